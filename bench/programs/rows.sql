CREATE TABLE t(a INTEGER, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
INSERT INTO t SELECT i * 7919 % (ROWS + 3), 'row ' || (i * 31 % 5003), i / 3.0 FROM n;
CREATE INDEX t_b ON t(b);
SELECT b, count(*), sum(c) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*) FROM t x JOIN t y ON x.a = y.a + 1 AND x.b < y.b;
SELECT a, upper(b) FROM t WHERE b LIKE '%99%' ORDER BY c DESC LIMIT 5;
