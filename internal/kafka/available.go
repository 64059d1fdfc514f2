package kafka

import (
	"os"
	"path/filepath"
)

// Available says whether a broker of the release could be started here: there is Java, and the jars are in the cache or Maven can
// fetch them. The error says what is missing. Without a version any release will do.
func Available(version string) error {
	if _, err := findJava(); err != nil {
		return err
	}
	if os.Getenv("KAFKA_HOME") != "" {
		return nil
	}
	_, noMaven := findMaven()
	if noMaven == nil {
		return nil
	}
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	if version == "" {
		version = "*"
	}
	dirs, err := filepath.Glob(filepath.Join(cache, version))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		rel := release{cache: dir}
		if rel.load() {
			return nil
		}
	}
	return noMaven
}
