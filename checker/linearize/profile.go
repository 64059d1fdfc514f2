package linearize

// KnownProfile says whether a header may name the profile.
func KnownProfile(name string) bool {
	_, err := profileOf(name)
	return err == nil
}
