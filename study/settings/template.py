"""The study.toml that `ccrs init` writes."""

import json


def study_toml(name: str) -> str:
    """Return a study.toml with every default stated in a comment."""
    return f"""\
# Settings of this study. Lines with # in front show the defaults.
# Every setting is explained in study/README.md of ccrs-study.

name = {json.dumps(name, ensure_ascii=False)}
seed = 0

# database = "study.db"      # or "postgresql+psycopg://user@host/name", password in ~/.pgpass

# Without constructs of your own, the five of CCRS are measured, each from 0 to 100.
# [[constructs]]
# key = "FL"
# name = "Fluency"
# question = "How well does the response read?"
# sees = ["question", "response"]
# flags = ["unfinished"]
# control = "points"         # or "slider", "switch"; default: chosen by the scale
# comment_question = "..."   # answered in words, which is not a rating
# mark_question = "..."      # raters mark the sentences of the response that it asks for
# anchors = {{ "1" = "hardly readable", "5" = "reads like print" }}
# scale = {{ min = 1, max = 5, step = 1, level = "ordinal" }}

# [scorers."my-metric"]      # a scorer whose scale is not the construct's
# kind = "metric"
# scale = {{ min = 0, max = 1 }}
# note = "..."               # a remark that the report shows with the scorer
# family = "llama"           # of a judge's model: the report looks for self-preference

# [systems."my-system"]
# family = "llama"           # of the model that writes its responses

# [juries."three judges"]    # a scorer that is made of judges
# of = ["judge-1", "judge-2", "judge-3"]
# by = "median"              # or "mean"

# [composites."word overlap"] # a scorer that is the weighted mean of metrics and judges
# of = {{ "F1" = 2, "ROUGE-L" = 1 }}

# [preferences]
# scale = {{ min = -2, max = 2, step = 1, level = "ordinal" }}

# [design]                      # who rates what; see "Who rates what" in study/README.md
# sample = 200                  # queries drawn at random; default: all
# sample_of = "queries"         # or "responses", one by one
# strata = []                   # ["domain"]; for responses also "system" and "judge_score"
# allocation = "proportional"   # or "equal"
# judge = "judge-1"             # whose scores make the bands of judge_score
# judge_construct = "QR"        # default: the mean over constructs
# bands = []                    # [50, 80]: below 50, 50 to below 80, from 80
# per_item = 3                  # raters for each response
# overlap = 1.0                 # share of the queries that go to per_item raters
# calibration = 0               # queries that everybody rates first
# training = 0                  # training responses of one attempt
# pass_mark = 0.8
# training_attempts = 3
# checks = 0                    # checks that each rater meets
# repeats = 0.0                 # share of a rater's queries that they rate again
# repeat_after_hours = 24
# one_construct_a_pass = false
# layout = "single"             # or "side_by_side"
# comparisons = 0.0             # share of the pairs of systems that are compared directly
# comparison_constructs = []    # default: all
# ratings = true                # false: comparisons only

# [raters."anna"]
# languages = ["de", "en"]      # default: all

# [rating]
# disclosure = "staged"          # or "all": every field at once
# lease_minutes = 120
# base_url = "http://127.0.0.1:8350"
# language = "en"
# interface_language = "en"     # of the pages' own words; also de, and unreviewed es, fr, zh, ar
# catalogue = "it.po"           # the pages' words in another language, next to this file
# text_format = "plain"          # or monospace, for code, or rendered, for Markdown
# words_per_minute = 238
# consent = "consent.md"         # raters agree to it before anything else
# instructions = "instructions.md"
# session_minutes = 60           # active minutes after which a rater is asked to come back later
# break_minutes = 30             # pause after which the next value begins a session
# completion_code = "..."        # shown once all is done
# completion_url = "https://recruiter.example/done?cc={{code}}"
# screen_out_code = "..."        # shown after a failed training or a declined consent text
# screen_out_url = "https://recruiter.example/done?cc={{code}}"
# return_code = "..."            # shown to raters who leave before the end
# return_url = "https://recruiter.example/done?cc={{code}}"
# adjudicators_see = "judge-1"   # run whose scores they see after their blind value; default: none

# [label_studio]
# url = "https://label-studio.example"
# stages = "projects"           # or "on request": one task, whose texts the rater opens
# controls = {{ quality = "AC" }} # of an imported export, with the construct that each rates

# [stopping]                    # when enough is rated; declare it before any interim analysis
# quantity = "human_mean"       # or "judge_error"
# judge = "judge-1"             # whose error it is
# constructs = []               # that must all be narrow enough; default: all
# half_width = 4                # points to each side that are enough; no rule without it
# least_queries = 30

# [analysis]
# reference = "mean_of_raters"   # or "adjudicated"
# resamples = 2000
# level = 0.95
# ac_lambda = 0.7
# second_metrics = []           # a second set of constructs or scorers: ["P", "R", "F"]
# published = false             # true: show the CCRS paper's figures of systems A to F
# non_inferiority_margin = 0.05 # the judge's correlation may be this much below a rater's
# bias_margin = 5               # largest bias that is treated as none
# alt_test_epsilon = 0.15       # 0.2 where raters are experts, 0.1 in a crowd
# true_rate = 0.8               # least true positive and negative rate of a judge of two values
# cut = {{ human = 4 }}           # from 4 on people pass a response; also SCORER, human:CONSTRUCT
# overall = "overall"           # construct with an overall rating, to learn a composite's weights
# without_unopened = false      # true: also without ratings given with all passages folded
# target_width = 5              # points to each side that corrected means should reach
# map = {{ "my-metric" = "linear" }}   # or "thresholds": from its own scale to people's
"""
