"""All words of answers, first lines, verdicts, notes and limits, as templates with slots.

`sentences` fills them: what stands after the colon of a slot says how its value is written.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The first words of a note on two figures that seem to exclude each other.
OPENING = "Two results contradict each other: "

SCOPES = {"within_query": "within a query", "pooled": "over all responses"}
RATERS = {"these_raters": "one of these raters", "raters_like_these": "a rater like these"}
CONCLUSIONS = {
    "better": "the order is better than a rater's",
    "worse": "the order is less good than a rater's",
    "undecided": "the order cannot be distinguished from a rater's",
}

#: The end of a figure that is compared with a number of its own kind.
REQUIRED = " {e:r+}, {above} {least} is required"

ANSWERS: Mapping[str, str] = {
    # What decides.
    "not_told": "the table does not tell: {reason}.",
    "not_known": "{whose}not known, since {reason}.",
    "decided": "{whose}{figure}{chance}{limits}.",
    "chance_on_one": "; {chance} is the chance of that, not of telling systems apart",
    "chance_on_all": "; {chance} is the chance of that on every construct, not of telling systems "
    "apart",
    "alt_test_winning_rate": "the alternative annotator test shows that it may replace {e:%} of "
    "{e.n_raters:raters}, {threshold:%} are needed ({p})",
    "true_positive_rate": "true positive rate {e:r+}, at least {least}",
    "true_negative_rate": "true negative rate {e:r+}, at least {least}",
    "majority_accuracy": "its choice is that of {e.n_raters:the rater/most raters} in {e:%} of the "
    "pairs {e:[%]}, at least {threshold:%}",
    "concordance": "{e:%} of pairs{to_one} ordered alike {e:[%]}, at least {threshold:%}",
    "concordance_difference": "{judge:%} of pairs{to_one} ordered as the rater's first ratings do, "
    "{repeat:%} by the rater's own repeat: {e:r+}, at least {least}",
    "choice_regret": "choosing {e.systems[0]}{best} as the judge does costs {amount} {interval} of "
    "people's mean{known}, allowed are {margin}",
    "ratings_of": " (ratings of {rated:,} of {judged:,} judged queries, corrected by the judge)",
    "decision": "{e.systems[0]} minus {e.systems[1]} is {people} by people and {judge} by the "
    "judge; choosing by the judge may cost at most {margin}",
    "bias": "bias{on} {amount} {interval}, allowed are ±{margin}",
    "human_ceiling_difference": "tau-b {where} minus that of one of these raters" + REQUIRED,
    "average_rater_difference": "tau-b {where} minus the average rater's" + REQUIRED,
    "pairwise_accuracy_difference": "share of pairs ordered as people do minus a rater's"
    + REQUIRED,
    "kendall_tau_b": "tau-b {where}" + REQUIRED,
    "majority_accuracy_difference": "accuracy against the majority minus a rater's" + REQUIRED,
    "kappa_difference": "kappa minus that of two raters" + REQUIRED,
    "yes_on_one": "Yes on {names:listed}{whom}: {figure}",
    "yes_on_several": "Yes on {names:listed}{whom}. {names[0]}: {figure}",
    "for_answers": "{uses}: {limits}.",
    # What would settle an answer, and what to do next.
    "rate_more": "Rate more queries: {n:answers} may be decided so, the first by about {further} "
    "further queries (`ccrs plan`).",
    "report_corrected": "Report corrected means in place of the judge's own. On {construct} "
    "{corrected}.",
    "check_again": "Where the judge serves ({uses:listed}), check it again when its model, prompts "
    "or server change: `ccrs check`.",
    "needed_first": "needed first: {reason}",
    "more_queries": "about {further} rated by these raters would decide it (`ccrs plan`)",
    "more_raters": "{about}{further} would decide it, more queries alone would not (`ccrs plan`)",
    "too_close": "the figure is too close to its threshold for any practical number of queries",
    # What answers and brackets mean.
    "yes_and_no": "A yes{whole} is wrong with a probability of at most {alpha:.0%}, and so is a "
    "no. For yes, the interval of every figure that decides is on the good side of its threshold; "
    "for no, that of one is on the other side.",
    "chances": " Likely, open and unlikely give the chance that the use meets its standard.",
    "both_targets": " These raters are the panel as it is; raters like these are drawn as they "
    "were.",
    "figures_stay": " What would decide an answer assumes that the figures stay as they are.",
    "answer_brackets": " Square brackets are {answers:.0%} intervals in answers{wider} and "
    "{level:.0%} intervals elsewhere.",
    "wider_brackets": ", unless another level such as (98%) is beside them, which corrects for "
    "several comparisons,",
    # Corrected means.
    "no_corrected_mean": "no corrected mean: {reason}",
    "corrected_mean": "the corrected mean is known to ±{width}{alone} ({n:rated responses})",
    "by_ratings_alone": ", ±{width} by the ratings alone",
}

FIRST_LINES: Mapping[str, str] = {
    # What was compared.
    "compared": "{scorer} compared with {people}: {n:responses}{where}; {scale}.",
    "compared_preferences": "{scorer} compared with the preferences of {people}: {n:pairs} of "
    "responses.",
    "nothing_compared": "{scorer}: there are no ratings by people to compare its scores with.",
    # The agreement.
    "alike": "Pairs{to_one} ordered alike: {e:%+}{few}{tau}",
    "few_compared": " on {compared:,} of {n:,} queries",
    "and_tau": "; tau-b {e:r+}",
    "order_undefined": "Order: not defined, {reason}",
    "same_value": "Same value: {e:%+}{near}",
    "and_near": "; within one {step} {e:%+}",
    "level": "Bias: {plus}{amount}{interval:+}{whom}",
    "level_undefined": "Bias: not defined, {reason}",
    "passed": "of the responses that people passed, it passed {e:%+}",
    "failed": "of those that they failed, it failed {e:%+}",
    "categories": "Same category: {e:%+}{kappa}",
    "accuracy": "Accuracy: {e:%+}{kappa}{ac1}",
    "accuracy_undefined": "Accuracy: not defined, {reason}",
    "and_kappa": "; kappa {e:r+}",
    "and_ac1": "; AC1 {e:r+}",
    "majority": "Against the majority: {judge:%+}; a rater against the majority of the others "
    "{rater:%+}",
    "both_orders": "Same choice in both orders: {e:%+}{first}",
    "and_first": "; prefers what is shown first by {e.value:+.0%}",
    # What was not asked.
    "no_answer": "No answer can be given: {reason}.",
    "not_asked": "Not asked of this table: {uses}.",
}

#: Figures that stand at the end or the beginning of several sentences.
BY_TAU = " (tau-b {beside.amounts}{corrected})"
BY_KAPPA = " (kappa {beside.amounts}{corrected}); {share}"
AGREEMENT = "{where} {name}'s order of responses has a tau-b of {tau:r+} with "
BRACKETS = "Square brackets are {level:.0%} intervals"

#: The agreement of two raters, and its mean over several pairs of them.
OF_TWO = (
    "the two raters' preferences with each other/"
    "two raters' preferences with each other, on average"
)

VERDICTS: Mapping[str, str] = {
    "statement": "{construct}: {statement}.",
    "statement_and_level": "{construct}: {statement}; {level}.",
    "no_result": "{reason}, so there is no result for {name}",
    "no_scores": "{construct}: there are no scores.",
    "people_only": "{construct}: people rated {n:responses}; there is no judge to compare.",
    "not_significant": ", not significant after correction for {n:comparisons}",
    # Order of responses.
    "order_unknown": "how {name} orders responses is unknown ({reason})",
    "order_worse": "{where} {name} orders responses less well than {rater} does" + BY_TAU,
    "order_better": "{where} {name} orders responses better than {rater} does" + BY_TAU,
    "order_undecided": "{where} {name} cannot be distinguished from {rater} in how it orders "
    "responses" + BY_TAU,
    "order_withheld": "{where} {name} and {rater} order responses with a tau-b of {beside.pair} on "
    "average (no interval: {beside.difference.reason})",
    "order_adjudicated": AGREEMENT + "the adjudicated values; whether a rater does better is not "
    "stated, since an adjudicated value favors the raters whose values it settled",
    "order_one_rater": AGREEMENT + "the one rater; how well a rater does is unknown without a "
    "second one",
    "order_apart": AGREEMENT + "the mean of the raters; a rater cannot be compared with the "
    "others, who rated too few of the same responses",
    "pooled": "over all responses (within a query it is unknown)",
    "pooled_one_each": "over all responses (one a query, so the order within a query is unknown)",
    "pooled_no_interval": "over all responses (within a query, {tau:basis} have no interval)",
    # Level, and ends of the scale.
    "no_bias": "it has no bias on these responses",
    "bias_not_shown": "no bias can be shown ({amount}{interval:+}{where:+}{corrected})",
    "biased": "it is {amount} too {way}{interval:+}{where:+}",
    "many_at_end": "{share:%} of its scores are at the {end}",
    # Categories.
    "categories_unknown": "whether {name} chooses people's categories is unknown ({reason})",
    "same_category": "it chose the category of {share:%} of people's ratings",
    "categories_worse": "{name} agrees with a rater on categories less than another rater does"
    + BY_KAPPA,
    "categories_better": "{name} agrees with a rater on categories more than another rater does"
    + BY_KAPPA,
    "categories_undecided": "{name} cannot be distinguished from a rater in which categories it "
    "chooses" + BY_KAPPA,
    "categories_withheld": "{name} and a rater are compared without an interval "
    "({beside.difference.reason})" + BY_KAPPA,
    "chance_unknown": "agreement of {name} beyond chance is unknown; {share}",
    "kappa_adjudicated": "{name} agrees with the adjudicated categories by a kappa of {kappa:r+}; "
    "{share}",
    "kappa_rater": "{name} agrees with a rater by a kappa of {kappa:r+}; {share}",
    # Preferences.
    "own_preferences": "{construct}: {scorer}'s own preferences are people's in {accuracy:%+}.",
    "score_differences": "{construct}: differences in {scorer}'s scores correlate {r:r+} with "
    "people's preferences{among}.",
    "among_raters": "; {n:" + OF_TWO + "} {mean:r}",
    "only_preferences": "{construct}: {statement}; there are no scores to compare them with.",
    "preferences_correlate": "{n:" + OF_TWO + "} correlate {mean:r}",
    # What the brackets are.
    "brackets_adjudicated": BRACKETS + " over queries, with the adjudicated values taken as fixed.",
    "brackets": BRACKETS + " for these raters.",
    "brackets_of_both": BRACKETS + " for these raters; those of a difference from a rater like "
    "these, and of the bias beside it, are for raters like these.",
    "corrected_claims": "{brackets} A difference from a rater or a bias is claimed where it holds "
    "after correction for {n} comparisons.",
}

NOTES: Mapping[str, str] = {
    # How far the statement goes.
    "wide": "The interval is wide: neither an advantage nor a shortfall of a size that matters is "
    "excluded. More rated {more:listed} narrow it.",
    "order_rests_on": "That order rests on {e:basis} only.",
    "rests_on": "That rests on {e:basis} only.",
    "ties": "In {judge:%} of the queries the judge has no tau-b, and in {rater:%} a rater has "
    "none, since all its scores or all of people's are equal there. The figures sum pairs over all "
    "queries, so that these are not left out.",
    "pearson": "Pearson's r leads to another conclusion: by it {conclusion} ({beside.amounts}). It "
    "also depends on the distances between scores; tau-b counts the order of pairs only.",
    "distribution": "The mean of its distribution correlates {mean:r} with people where the number "
    "that it wrote correlates {number:r} (difference {gain:r+}).",
    # Level and ends of the scale.
    "order_without_level": "A high correlation with a large bias: it orders responses, but its "
    "level is not people's. Use it to compare, not to report a level.",
    "ceiling": "It cannot distinguish good responses from better ones at the maximum.",
    "no_scale": "No scale is declared for {construct}: bias and the share at the maximum are "
    "withheld. Declare it with --scale {construct}=MIN:MAX.",
    "bias_withheld": "Its bias is withheld: {reason}.",
    # People.
    "people_disagree": "People agree little among themselves here (alpha {alpha:r+}): one rater is "
    "an easy standard, and the mean of few raters is imprecise.",
    "people_disagree_on_categories": "People agree little among themselves here (alpha "
    "{alpha:r+}): one rater is an easy standard.",
    "rater_apart": "{rater} agrees little with the other raters in the order of responses (tau-b "
    "{lowest:r}; the others {next:r} to {highest:r}), which lowers what a rater reaches here.",
    "severity_adjusted": "The systems were not rated by the same raters to the same extent: "
    "people's figures by system are adjusted for raters' severity.",
    "systems_withheld": "People's difference is withheld for {n:pairs} of systems: {reason}.",
    # What was computed.
    "unit": "In {scorer} an exact match adds {added:g} {of_a_point}where {meant:g} are meant: the "
    "match was left at 1 while the judge's part is in points.",
    "composed": "AC composed with lambda {weight:g} averages {mean} where people average {people}. "
    "The difference comes from composing and is not a bias of the judge.",
    # Contradictions.
    "easy_queries": OPENING + "over all responses its order has a tau-b of {pooled:r+} with "
    "people's, within a query {within:r+}. It distinguishes easy queries from hard ones, and "
    "hardly a good response from a bad one to the same query.",
    "close_not_ordered": OPENING + "it passes the alternative annotator test (it may replace "
    "{rate:%} of the raters), yet within a query its order has a tau-b of {within:r+} with "
    "people's. The test asks for closeness, which a nearly constant judge has as well.",
    "systems_reversed": OPENING + "its order of responses has a tau-b of {tau:r} with people's, "
    "yet of {apart:pairs} of systems that people find different it puts {against:pairs} the other "
    "way around (people find {first} better than {second}, it does not).",
    "composed_apart": OPENING + "the judge's own part is {amount} from people on average, while "
    "{composed}",
    # Metrics.
    "metric_better": "{metric}, {of}, {does} better than {judge} does{free} ({figure}).",
    "metric_as_good": "{metric}, {of}, {does} as well as {judge}, to within {margin:r}{free} "
    "({figure}).",
    "judge_better": "{judge} {does} better than {metric}, {of} ({figure}).",
    "judge_not_better": "{judge} is not shown to {do} better than {metric}, {of} ({figure}).",
    "judge_not_better_corrected": "{judge} is not shown to {do} better than {metric}, {of} "
    "({figure}, before correction for the number of comparisons).",
    "best_of": "the best of {n} metrics",
    "order": "order{s} responses {where}",
    "agree": "agree{s} with people's preferences",
    "from_metric": "{measure} of {judge} minus {metric}: {e:r+}",
    # One query.
    "query_changes_agreement": "One query changes the agreement with people: without {query}, "
    "{measure} is {without:r} in place of {whole:r}.",
    "query_changes_order": "The statement on order rests on one query: without {query}, "
    "{conclusion} (difference {e:r+}).",
}

LIMITS: Mapping[str, str] = {
    "simulated": "Anything about people or a real judge: {names:listed} {names:is/are} simulated. "
    "The figures show what the method finds, not what is true of a judge.",
    "scorer_note": "Anything about {scorer} that the note on it rules out: {note}",
    "not_computed": "Anything about {scorer}, which has no scores: it is {reason}.",
    # People.
    "no_ratings": "Whether any score is right: there are no human ratings.",
    "one_rater": "How far people agree, and what another rater would say: one person rated. Every "
    "figure speaks of this rater only.",
    "few_raters": "Much about other raters: {n} people rated. Figures for raters like these rest "
    "on so few and are weak; figures for these raters are not about others.",
    "other_people": "What other kinds of people would say: {n} people rated, and figures for "
    "raters like these are valid for people recruited as they were.",
    "adjudicated": "How a judge compares with a rater: the reference is adjudicated, and favors "
    "the raters whose values it settled.",
    "rules": "How {judges:listed} would score {construct} under the raters' rules, which "
    "{judges:its prompt lacks/their prompts lack}: {rules}",
    "rules_unknown": "Whether {judge} was given the rules that raters followed on "
    "{constructs:listed}: its prompt is not known here.",
    # The sample.
    "preferences_only": "Anything beyond {rated:queries} with preferences.",
    "queries": "Anything beyond these {queries:queries}: intervals treat the queries as a random "
    "sample of the queries that matter.",
    "queries_and_systems": "Anything beyond these {queries:queries} and {systems:systems}: "
    "intervals treat the queries as a random sample of the queries that matter, and the systems as "
    "the only ones.",
    "few_queries": "Small differences: people rated responses to {rated:queries}, which leaves "
    "intervals wide, and estimates of small shares rough.",
    "unrated_queries": "Agreement on the {unrated:,} queries that were not rated: it is assumed to "
    "be as on the {rated:,} rated ones, which holds if these were drawn at random.",
    "no_systems": "Anything about systems: the table has none.",
    "few_systems": "How a judge ranks systems: there {systems:is/are} {systems}.",
    "unequal_draw": "Figures for the whole pool: responses were drawn with stated probabilities, "
    "and figures other than the corrected means and `choice_regret` are not weighted by them.",
    # How it was rated and judged.
    "sequential": "That intervals are valid at every stop: the design was sequential. Interim "
    "figures were computed {looks:times} while people rated. The interval of a declared stopping "
    "rule allows for that; the intervals here do not, and cover less than their level if rating "
    "ended because of what was seen.",
    "one_run": "Whether {judges:listed} would give the same scores again: each response has one "
    "score of {judges:it/each}. Run-to-run variation is not in any interval.",
    "first_run": "How much figures vary from run to run: each uses the first scores of one run. "
    "Repeats and further runs are compared in the section on stability.",
    "missing": "What {whose} would have said where a value is missing ({n:values}, not counting "
    "what was not assigned): missing values are left out, which is harmless only if they do not "
    "differ from the others.",
    # Scales, and the number of constructs.
    "no_scales": "Bias and ceilings on {constructs:listed}: no scale is declared (--scale "
    "{constructs[0]}=MIN:MAX).",
    "nominal": "Order, level and means on {constructs:listed}: the scale is nominal, so only "
    "agreement on categories is computed.",
    "many_constructs": "Anything about all constructs at once by intervals: each is valid for its "
    "figure alone, and with many figures some exclude the truth by chance. Sentences that claim a "
    "difference are corrected for that.",
}
