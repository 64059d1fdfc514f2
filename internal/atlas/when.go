package atlas

import (
	"cmp"
	"fmt"
	"strings"
)

// when tells of each release what it does otherwise than the one before.
func (p Page) when(b *strings.Builder) {
	b.WriteString(`## What changed when

Each release against the one before it in this list. "3.9+java" is where the Java coordinator can be switched on; what it has from there on 4.0 has
by default.

| release | defects mended | other behaviour as in 4.3.1 since | otherwise than in 4.3.1 since | can be asked since |
| --- | --- | --- | --- | --- |
`)
	names := short(p.Releases)
	for i, release := range p.Releases {
		if i == 0 {
			continue
		}
		var mended, changed, away, versions []string
		for _, e := range p.Explained {
			was, is := e.Releases.Holds(p.Releases[i-1]) > 0, e.Releases.Holds(release) > 0
			switch {
			case was == is:
			case is && !e.unasked():
				away = append(away, e.Name)
			case is:
			case e.unasked():
				versions = append(versions, e.lacks())
			case e.Kind == Defect:
				mended = append(mended, e.Name)
			default:
				changed = append(changed, e.Name)
			}
		}
		if len(mended)+len(changed)+len(away)+len(versions) == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", names[i], listed(mended), listed(changed), listed(away), listed(versions))
	}
	b.WriteString("\n")
}

// listed is a cell of that table.
func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "-") }
