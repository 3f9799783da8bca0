# The table of the mutation tests: pitest's mutations.csv of each area, by class. Fails if an area
# is below 85 %.
BEGIN { FS = ","; form = "%-14s %-22s %9d %6d %6d %%\n" }

{
  areas = split(FILENAME, path, "/")
  area = path[areas - 1]
  class = $2
  sub(/.*\./, "", class)
  sub(/\$.*/, "", class)
  row = area SUBSEP class
  all[area]++
  of[row]++
  if ($6 != "SURVIVED" && $6 != "NO_COVERAGE") {
    found[area]++
    foundOf[row]++
  }
}

END {
  printf "%-14s %-22s %9s %6s\n", "area", "class", "mutations", "found"
  sort = "sort"
  for (row in of) {
    split(row, name, SUBSEP)
    printf form, name[1], name[2], of[row], foundOf[row], 100 * foundOf[row] / of[row] | sort
  }
  close(sort)
  for (area in all) {
    printf form, area, "", all[area], found[area], int(100 * found[area] / all[area])
    low += found[area] < 0.85 * all[area]
  }
  exit low > 0
}
