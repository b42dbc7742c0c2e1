"""The rule language, the rule table, and the library of rules."""
