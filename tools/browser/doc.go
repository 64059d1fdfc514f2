// Package browser holds the tests of the pages that Muster writes: it opens them in headless Chromium. It exports nothing.
package browser
