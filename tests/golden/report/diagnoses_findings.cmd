# In place of diagnoses, findings.
caused
lode report x.lode --findings
