import Foundation
import TestSupport
import Testing

/// Tests/watch.py, which shows the results of `./dev test`.
@Suite("Watch", .ownThread)
struct WatchTests {
    @Test("the tests get no proxies of the machine's environment")
    func proxies() throws {
        let names = ["http_proxy", "HTTPS_PROXY", "all_proxy", "NO_PROXY"]
        let tool = SourceTree.root.appending(path: "Tests/watch.py").path
        let ended = try EndedProgram(
            "/usr/bin/env",
            names.map { "\($0)=http://p.test:9" } + ["KEPT=1", "python3", tool, "/dev/null", "/usr/bin/env"]
        )
        #expect(ended.status == 0)
        let lines = ended.out.split(separator: "\n")
        #expect(lines.contains("KEPT=1") && !lines.contains { $0.contains("p.test") })
    }

    @Test("a message that follows the unfinished start of another test is shown, and that start is not")
    func interleaved() throws {
        let tool = SourceTree.root.appending(path: "Tests/watch.py").path
        let messages = [
            "◇ Test case passing 1 argument text → \"a",
            "b\" (String) to x(text:) started.",
            "a line of a program",
            "◇ Test case passing 1 argument text → \"c",
            "✘ Test \"y\" recorded an issue",
            "✔ Test run with 1 test passed",
        ]
        let ended = try EndedProgram(
            "/usr/bin/env",
            ["python3", tool, "/dev/null", "/usr/bin/printf", "%s\\n"] + messages
        )
        #expect(ended.status == 0)
        #expect(ended.out.split(separator: "\n").map(String.init) == [messages[2], messages[4], messages[5]])
    }
}
