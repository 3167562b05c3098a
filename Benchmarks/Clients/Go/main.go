// Go's net/http with the work of Driver.swift: the same arguments, and the same line of output.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Printf("usage: %s URL TASKS REQUESTS [QUERIES]\n", os.Args[0])
		os.Exit(1)
	}
	tasks, total := number(os.Args[2]), number(os.Args[3])
	urls := []string{os.Args[1]}
	if len(os.Args) == 5 {
		urls = urls[:0]
		for query := 0; query < number(os.Args[4]); query++ {
			urls = append(urls, fmt.Sprintf("%s?query=%d", os.Args[1], query))
		}
	}
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}}
	// Connections, caches of types and the like are made before the clock starts.
	burst(client, urls, tasks, tasks*20)
	cpu, wall := cpuTime(), time.Now()
	bytes := burst(client, urls, tasks, total)
	spent := cpuTime() - cpu
	fmt.Printf("requests %d bytes %d cpu_us %f wall_us %f\n", total, bytes, spent/float64(total)*1e6,
		time.Since(wall).Seconds()/float64(total)*1e6)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		fail(fmt.Errorf("%s is no number above 0", text))
	}
	return value
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func burst(client *http.Client, urls []string, tasks, total int) int64 {
	var bytes atomic.Int64
	var group sync.WaitGroup
	for task := 0; task < tasks; task++ {
		share := total / tasks
		if task < total%tasks {
			share++
		}
		group.Add(1)
		go func(first int) {
			defer group.Done()
			for index := 0; index < share; index++ {
				bytes.Add(get(client, urls[(first+index)%len(urls)]))
			}
		}(task * share)
	}
	group.Wait()
	return bytes.Load()
}

func get(client *http.Client, url string) int64 {
	response, err := client.Get(url)
	if err != nil {
		fail(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		fail(err)
	}
	return int64(len(content))
}

func cpuTime() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}
