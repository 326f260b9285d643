lode-signature 1
name gzip, level 9
profiles 3
frequency exact
executions 58100400
min-support 0.001
attributes kind,mem
seconds-per-execution 2.5e-10 1e-11
seconds-per-unit 0.25 0.01
opcodes 1 3 1
0.5 0.01 mov
0.25 0.02 add
0.25 0 sub
opcodes 2 1 0.9
0.25 0.02 mov add
opcodes 3 0 0.8
opcodes 4 0 0.7
attributes 1 1 1
0.5 0.01 kind:load+mem:pointer
attributes 2 1 0.9
0.25 0.02 kind:load+mem:pointer -
attributes 3 0 0.8
attributes 4 0 0.7
end
