// Package anomaly says what is wrong with a consumer group, from nothing but observations of it over time. It knows neither a
// coordinator nor the wire: whoever observes a group (a coordinator itself, or a client that only reads) hands in what was seen and
// when, and asks for findings.
//
// Two clocks are in use and never mixed. An Observation's At is the observer's clock; the times that a group wrote into its log
// are the coordinator's. Ages of logged times are taken against the latest time the coordinator is known to have reached
// (BrokerNow), so a wrong clock on the observer's side cannot make a finding certain.
package anomaly
