-- SPDX-License-Identifier: MIT
-- Made after the rows, which is faster than keeping them while rows come.

CREATE INDEX function_by_name ON function (name);
CREATE INDEX block_by_function ON block (function);
CREATE INDEX instruction_by_function ON instruction (function);
CREATE INDEX attribute_set_by_attribute ON attribute_set_member (attribute);
CREATE INDEX edge_by_source ON edge (source);
CREATE INDEX edge_by_target ON edge (target);
