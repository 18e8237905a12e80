// kvindex from Go, standard library only: register an engine, then ask what of a prompt it has cached.
// What to use is in the environment; see README.md beside this directory. Run it with: go run kvindex.go
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Refused is an answer other than 200, or none (Status 0). A router that gets it routes by load.
type Refused struct {
	Status     int
	Reason     string
	RetryAfter time.Duration
}

func (r *Refused) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Reason) }

// Answer is what kvindex says of a prompt, and how far it is to be trusted.
type Answer struct {
	State    string
	LagMs    string
	Degraded []string
	Rows     map[string]int // longest match in tokens, by instance
}

// Usable rows are those to go by: none when stale, none of instances that lost events.
func (a *Answer) Usable() map[string]int {
	usable := map[string]int{}
	if a.State == "stale" {
		return usable
	}
	for instance, n := range a.Rows {
		usable[instance] = n
	}
	for _, name := range a.Degraded {
		if name == "*" {
			return map[string]int{}
		}
		delete(usable, name)
	}
	return usable
}

// KvIndex keeps its connections open and is safe for all goroutines.
type KvIndex struct {
	URL    string
	Tenant string
	HTTP   http.Client
}

// call returns headers and body of a 200. With attempts: 429 and 503 are asked again after Retry-After.
func (k *KvIndex) call(path, contentType string, body []byte, deadlineMs, attempts int) (http.Header, []byte, error) {
	var refused *Refused
	for attempt := 0; attempt < attempts; attempt++ {
		if attempt > 0 {
			time.Sleep(refused.RetryAfter)
		}
		var header http.Header
		var answer []byte
		header, answer, refused = k.send(path, contentType, body, deadlineMs)
		if refused == nil {
			return header, answer, nil
		}
		if refused.Status != 429 && refused.Status != 503 {
			break
		}
	}
	return nil, nil, refused
}

func (k *KvIndex) send(path, contentType string, body []byte, deadlineMs int) (http.Header, []byte, *Refused) {
	request, err := http.NewRequest(http.MethodPost, k.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, &Refused{Reason: err.Error()}
	}
	request.Header.Set("Content-Type", contentType)
	if deadlineMs >= 0 {
		request.Header.Set("X-KvIndex-Deadline-Ms", strconv.Itoa(deadlineMs))
	}
	response, err := k.HTTP.Do(request)
	if err != nil { // away, or later than the client's timeout
		return nil, nil, &Refused{Reason: err.Error()}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, &Refused{Reason: err.Error()}
	}
	if response.StatusCode == http.StatusOK {
		return response.Header, answer, nil
	}
	var told struct{ Reason string }
	_ = json.Unmarshal(answer, &told)
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil {
		seconds = 1
	}
	return nil, nil, &Refused{response.StatusCode, told.Reason, time.Duration(seconds) * time.Second}
}

// Register may be sent again and again: the same registration changes nothing.
func (k *KvIndex) Register(registration map[string]any) (string, error) {
	body, err := json.Marshal(registration)
	if err != nil {
		return "", err
	}
	_, answer, err := k.call("/register", "application/json", body, -1, 10)
	if err != nil {
		return "", err
	}
	var told struct{ Status string }
	return told.Status, json.Unmarshal(answer, &told)
}

// Query asks with a JSON body; deadlineMs -1 = none.
func (k *KvIndex) Query(path string, question map[string]any, deadlineMs, attempts int) (*Answer, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	header, answer, err := k.call(path, "application/json", body, deadlineMs, attempts)
	if err != nil {
		return nil, err
	}
	return k.read(header, answer)
}

// QueryOctets asks with little-endian u32: nothing to print, nothing to parse.
func (k *KvIndex) QueryOctets(tokens []uint32, parameters url.Values, deadlineMs int) (*Answer, error) {
	octets := make([]byte, 0, 4*len(tokens))
	for _, token := range tokens {
		octets = binary.LittleEndian.AppendUint32(octets, token)
	}
	header, answer, err := k.call("/query?"+parameters.Encode(), "application/octet-stream", octets, deadlineMs, 1)
	if err != nil {
		return nil, err
	}
	return k.read(header, answer)
}

func (k *KvIndex) read(header http.Header, body []byte) (*Answer, error) {
	var tenants map[string]map[string]struct {
		LongestMatched int `json:"longest_matched"`
	}
	if err := json.Unmarshal(body, &tenants); err != nil {
		return nil, err
	}
	answer := &Answer{State: header.Get("X-KvIndex-State"), LagMs: header.Get("X-KvIndex-Lag-Ms"), Rows: map[string]int{}}
	for instance, row := range tenants[k.Tenant] {
		answer.Rows[instance] = row.LongestMatched
	}
	if names := header.Get("X-KvIndex-Degraded"); names != "" {
		for _, name := range strings.Split(names, ",") {
			if plain, err := url.PathUnescape(name); err == nil { // PathUnescape, for there a plus is a plus
				name = plain
			}
			answer.Degraded = append(answer.Degraded, name)
		}
	}
	return answer, nil
}

func show(what string, answer *Answer, err error) {
	if err != nil {
		fmt.Printf("%s: %v: route by load\n", what, err)
		return
	}
	rows := []string{}
	for instance, n := range answer.Usable() {
		rows = append(rows, fmt.Sprintf("%s=%d", instance, n))
	}
	sort.Strings(rows)
	degraded := strings.Join(answer.Degraded, ",")
	if degraded == "" {
		degraded = "-"
	}
	fmt.Printf("%s: %s lag_ms=%s degraded=%s %s\n", what, answer.State, answer.LagMs, degraded, strings.Join(rows, " "))
}

func main() {
	index := &KvIndex{
		URL:    env("KVINDEX", "http://127.0.0.1:13333"),
		Tenant: "default",
		HTTP:   http.Client{Timeout: 5 * time.Second},
	}
	instance, model := env("INSTANCE", "vllm-1"), env("MODEL", "m")
	blockSize := int(numbers(env("BLOCK_SIZE", "16"))[0])
	tokens := []uint32{}
	for _, token := range numbers(env("TOKENS", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16")) {
		tokens = append(tokens, uint32(token))
	}
	status, err := index.Register(map[string]any{
		"type": "vLLM", "instance_id": instance, "modelname": model, "block_size": blockSize,
		"endpoint":        env("ENDPOINT", "tcp://127.0.0.1:5557"),
		"replay_endpoint": env("REPLAY_ENDPOINT", "tcp://127.0.0.1:5558"),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "register:", err)
		os.Exit(1)
	}
	fmt.Println("register:", status)

	context := map[string]any{"model": model, "block_size": blockSize, "instance_id": instance}
	question := with(context, "token_ids", tokens)
	ownWrite := with(question, "min_event", map[string]any{
		"instance_id": instance, "event_id": numbers(env("EVENT", "0"))[0]}) // waits until it is visible
	answer, err := index.Query("/query", ownWrite, -1, 10)
	show("own write", answer, err)
	answer, err = index.Query("/query", question, 2000, 1)
	show("query", answer, err)
	parameters := url.Values{"model": {model}, "block_size": {strconv.Itoa(blockSize)}, "instance_id": {instance}}
	answer, err = index.QueryOctets(tokens, parameters, 2000)
	show("octets", answer, err)
	if hashes := os.Getenv("HASHES"); hashes != "" {
		answer, err = index.Query("/query_by_hash", with(context, "seq_hashes", numbers(hashes)), 2000, 1)
		show("hashes", answer, err)
	}
	answer, err = index.Query("/query", question, 0, 1) // nobody is that quick
	show("late", answer, err)
}

func with(members map[string]any, name string, value any) map[string]any {
	more := map[string]any{name: value}
	for key, old := range members {
		more[key] = old
	}
	return more
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func numbers(list string) []uint64 {
	values := []uint64{}
	for _, text := range strings.Split(list, ",") {
		value, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		values = append(values, value)
	}
	return values
}
