# Rscript lme4_systems.R < lme4_ratings.csv > lme4_systems.json
suppressMessages({library(lme4); library(lmerTest)})
all <- read.csv(file("stdin"), stringsAsFactors = TRUE)
control <- lmerControl(optimizer = "nloptwrap", calc.derivs = TRUE,
  optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 100000))
number <- function(x) paste0("[", paste(sprintf("%.10g", x), collapse = ", "), "]")
out <- c()
for (name in levels(all$design)) {
  d <- droplevels(all[all$design == name, ])
  d$response <- interaction(d$query, d$system, drop = TRUE)
  single <- max(table(d$response)) == 1
  effects <- if (single) "(1 | query) + (1 | rater)" else
    "(1 | query) + (1 | response) + (1 | rater)"
  m <- lmer(as.formula(paste("value ~ 0 + system +", effects)), d, REML = TRUE, control = control)
  v <- as.data.frame(VarCorr(m))
  variance <- function(g) if (any(v$grp == g)) v$vcov[v$grp == g] else 0
  k <- length(fixef(m)); contrast <- c(1, -1, rep(0, k - 2))
  first <- contest1D(m, contrast); mean <- contest1D(m, c(1, rep(0, k - 1)))
  out <- c(out, sprintf(paste0('  "%s": {\n    "means": %s,\n    "variances": %s,\n',
    '    "residual": %.10g,\n    "severities": %s,\n    "covariance": %s,\n',
    '    "difference": %.10g,\n    "error": %.10g,\n    "df": %.10g,\n    "df_of_mean": %.10g\n  }'),
    name, number(fixef(m)), number(sapply(c("query", "response", "rater"), variance)),
    variance("Residual"), number(ranef(m)$rater[, 1]), number(as.numeric(as.matrix(vcov(m)))),
    first$Estimate, first$`Std. Error`, first$df, mean$df))
}
cat(sprintf('{\n  "made_by": "R %s, lme4 %s, lmerTest %s",\n%s\n}\n', getRversion(),
  packageVersion("lme4"), packageVersion("lmerTest"), paste(out, collapse = ",\n")))
