{ for (i = 1; i <= NF; i++) { n[tolower(substr($i, 1, 6))]++; if ($i ~ /^[a-z_]+\(/) c++ }
  gsub(/[(),]/, " "); t += NF }
END { for (k in n) if (m < n[k]) m = n[k]; print c, t, m }
