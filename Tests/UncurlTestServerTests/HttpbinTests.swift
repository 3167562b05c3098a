import TestSupport
import Testing
import UncurlTestServer

@Suite(.ownThread)
struct HttpbinTests {
    @Test(
        "httpbin prints its address, serves, and ends at once with status 0 on SIGTERM and SIGINT",
        arguments: ["TERM", "INT"]
    )
    func serves(signal: String) throws {
        let program = EndedProgram.built("httpbin")
        let name = "@httpbin-test-\(signal)-\(UInt64.random(in: 0 ... .max))"
        // Its line says that it listens; then it is signalled and waited for.
        let run = try EndedProgram(
            shell: """
                folder=$(mktemp -d); mkfifo "$folder/out"
                '\(program)' --unix '\(name)' >"$folder/out" & pid=$!
                { read -r line; echo "$line"; kill -\(signal) $pid; cat; } <"$folder/out"
                wait $pid; status=$?; rm -r "$folder"; exit $status
                """
        )
        #expect(run.out == "unix:\(name)\n")
        #expect(run.status == 0)
    }

    @Test(
        "a wrong argument prints one line and ends with status 1",
        arguments: [
            ("--port 99999", "--port"), ("--host nowhere.example", "\"nowhere.example\""), ("--loops 0", "--loops"),
            ("--unix ''", "--unix"), ("--unknown", "--unknown"), ("extra", "extra"),
            ("--port 1 --host 192.0.2.1", "192.0.2.1:1"), ("--key x", "--certificate"),
            ("--certificate /nowhere --key /nowhere", "/nowhere"), ("--root-file x", "--tls"),
            ("--certificate /dev/null --key /dev/null", "certificate"), ("--tls --name ''", "name"),
        ]
    )
    func mistakes(arguments: String, names: String) throws {
        let program = EndedProgram.built("httpbin")
        let run = try EndedProgram(shell: "'\(program)' \(arguments) 2>&1 >/dev/null")
        #expect(run.status == 1)
        #expect(run.out.hasPrefix("httpbin: ") && run.out.contains(names))
        #expect(run.out.split(separator: "\n").count == 1)
    }

    @Test(
        "many open streams of many pieces need little memory",
        arguments: ["sse?count=100000&delay=10", "payloads/100000/10"]
    )
    func streams(path: String) throws {
        let script = """
            import re, socket, subprocess, sys
            server = subprocess.Popen([sys.argv[1], "--port", "0"], stdout=subprocess.PIPE, text=True)
            try:
                port = int(re.search(r":(\\d+)/", server.stdout.readline())[1])
                open_streams = []
                for _ in range(10):
                    stream = socket.create_connection(("127.0.0.1", port))
                    stream.sendall(b"GET /" + sys.argv[2].encode() + b" HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n")
                    assert stream.recv(100).startswith(b"HTTP/1.1 200 ")
                    open_streams.append(stream)
                status = open("/proc/%d/status" % server.pid).read()
                print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024)
            finally:
                server.kill()
                server.wait()
            """
        let run = try EndedProgram("/usr/bin/python3", ["-c", script, EndedProgram.built("httpbin"), path])
        #expect(run.status == 0, "\(run.err)")
        #expect(try #require(Int(run.out.dropLast())) < 64, "megabytes")
    }

    @Test("the version is one line of the output")
    func version() throws {
        let run = try EndedProgram(shell: "'\(EndedProgram.built("httpbin"))' --version")
        #expect(run.status == 0 && run.out.wholeMatch(of: /httpbin \d+\.\d+\.\d+\n/) != nil)
    }

    @Test("with --tls it serves https and writes the root of its certificate to a file")
    func tls() throws {
        let program = EndedProgram.built("httpbin")
        let run = try EndedProgram(
            shell: """
                folder=$(mktemp -d); mkfifo "$folder/out"
                '\(program)' --tls --port 0 --root-file "$folder/root.pem" >"$folder/out" & pid=$!
                { read -r url; curl -s --cacert "$folder/root.pem" "${url}status/418" -o /dev/null -w '%{http_code} %{scheme}\n'
                  kill $pid; cat; } <"$folder/out"
                wait $pid; status=$?; rm -r "$folder"; exit $status
                """
        )
        #expect(run.out == "418 HTTPS\n" || run.out == "418 https\n")
        #expect(run.status == 0)
    }

    @Test("a port in use prints one line and ends with status 1")
    func portInUse() throws {
        let program = EndedProgram.built("httpbin")
        let server = try TestServer.start()
        defer { server.stop() }
        let run = try EndedProgram(shell: "'\(program)' --port \(server.port) 2>&1")
        #expect(run.out == "httpbin: cannot listen on \(server.address): Address already in use (EADDRINUSE)\n")
        #expect(run.status == 1)
    }
}
