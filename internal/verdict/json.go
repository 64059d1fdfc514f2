package verdict

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the verdict for programs. Sections of judges that do not run on the target are null, lists are never.
func (v *Verdict) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
