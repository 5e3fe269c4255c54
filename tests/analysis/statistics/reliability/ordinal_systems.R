# Rscript ordinal_systems.R < ordinal_ratings.csv > ordinal_systems.json
suppressMessages(library(ordinal))
all <- read.csv(file("stdin"), stringsAsFactors = TRUE)
number <- function(x) paste0("[", paste(sprintf("%.10g", x), collapse = ", "), "]")
out <- c()
for (name in levels(all$design)) {
  d <- droplevels(all[all$design == name, ])
  d$value <- factor(d$value, ordered = TRUE); d$query <- factor(d$query)
  m <- clmm(value ~ system + rater + (1 | query), d, nAGQ = 21)
  without <- clm(value ~ system + rater, data = d, control = clm.control(gradTol = 1e-10))
  out <- c(out, sprintf(paste0('  "%s": {\n    "thresholds": %s,\n    "effects": %s,\n',
    '    "query_sd": %.10g,\n    "log_likelihood": %.10g,\n    "errors": %s,\n',
    '    "fixed": {"parameters": %s, "log_likelihood": %.10g}\n  }'),
    name, number(m$Theta), number(m$beta), m$ST[[1]][1, 1], m$logLik,
    number(sqrt(diag(vcov(m)))), number(coef(without)), without$logLik))
}
cat(sprintf('{\n  "made_by": "R %s, ordinal %s",\n%s\n}\n', getRversion(),
  packageVersion("ordinal"), paste(out, collapse = ",\n")))
