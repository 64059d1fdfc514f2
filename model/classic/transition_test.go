package classic

import "testing"

func TestGenerationAfter(t *testing.T) {
	for effect, want := range map[GenerationEffect]int32{
		SameGeneration: 7, NextGeneration: 8, SecondGeneration: 9, ResetGeneration: 0, LoadedGeneration: 7,
	} {
		if got := effect.After(7); got != want {
			t.Errorf("effect %d: generation 7 becomes %d, want %d", effect, got, want)
		}
	}
}
