// Go's net/http: client URL COUNT, as clients.py.
package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	client := &http.Client{
		Timeout:       3 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var group sync.WaitGroup
	numbers := make(chan int)
	for range make([]int, 16) {
		group.Add(1)
		go func() {
			defer group.Done()
			for number := range numbers {
				fmt.Println(one(client, fmt.Sprintf("%s/%d", os.Args[1], number), number))
			}
		}()
	}
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	group.Wait()
}

func one(client *http.Client, url string, number int) string {
	response, err := client.Get(url)
	if err == nil {
		defer response.Body.Close()
		body, problem := io.ReadAll(response.Body)
		if err = problem; err == nil {
			sum := fnv.New32a()
			sum.Write(body)
			return fmt.Sprintf(`{"id":%d,"verdict":"taken","status":%d,"length":%d,"sum":"%x"}`, number, response.StatusCode, len(body), sum.Sum32())
		}
	}
	verdict := "refused"
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() {
		verdict = "waits"
	}
	return fmt.Sprintf(`{"id":%d,"verdict":"%s"}`, number, verdict)
}
