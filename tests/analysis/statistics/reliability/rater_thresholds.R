# Rscript rater_thresholds.R < ordinal_ratings.csv > rater_thresholds.json
suppressMessages(library(ordinal))
all <- read.csv(file("stdin"), stringsAsFactors = TRUE)
number <- function(x) paste0("[", paste(sprintf("%.10g", x), collapse = ", "), "]")
# Thresholds of each rater: those of the first, and how far each other rater's are from them.
thresholds <- function(parameters, points, raters) {
  own <- matrix(parameters, points - 1)
  own[, -1] <- own[, -1] + own[, 1]
  paste0("[", paste(apply(own, 2, number), collapse = ", "), "]")
}
out <- c()
for (name in levels(all$design)) {
  d <- droplevels(all[all$design == name, ])
  d$value <- factor(d$value, ordered = TRUE); d$query <- factor(d$query)
  k <- nlevels(d$value); r <- nlevels(d$rater); own <- seq_len((k - 1) * r)
  m <- clmm2(value ~ system, nominal = ~ rater, random = query, data = d, Hess = TRUE,
    nAGQ = 21, control = clmm2.control(gradTol = 1e-7))
  effects <- seq(length(own) + 1, length.out = nlevels(d$system) - 1)
  without <- clm(value ~ system, nominal = ~ rater, data = d,
    control = clm.control(gradTol = 1e-10))
  shared <- clm(value ~ system + rater, data = d, control = clm.control(gradTol = 1e-10))
  both <- anova(shared, without)
  out <- c(out, sprintf(paste0('  "%s": {\n    "thresholds": %s,\n    "systems": %s,\n',
    '    "query_sd": %.10g,\n    "log_likelihood": %.10g,\n',
    '    "fixed": {"thresholds": %s, "systems": %s, "log_likelihood": %.10g,\n',
    '      "ratio": %.10g, "df": %d, "p": %.10g}\n  }'),
    name, thresholds(coef(m)[own], k, r), number(coef(m)[effects]), m$stDev, m$logLik,
    thresholds(coef(without)[own], k, r), number(coef(without)[effects]), without$logLik,
    both$LR.stat[2], both$df[2], both[["Pr(>Chisq)"]][2]))
}
cat(sprintf('{\n  "made_by": "rater_thresholds.R, %s, R %s, ordinal %s",\n%s\n}\n', Sys.Date(),
  getRversion(), packageVersion("ordinal"), paste(out, collapse = ",\n")))
