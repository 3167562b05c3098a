import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// The Kubernetes Indexed Job that the documentation gives its readers.
@Suite(.ownThread)
struct IndexedJobTests {
    /// The manifest as it stands there.
    private static func manifest() throws -> String {
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/volley/SWARMS.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```yaml\n").dropFirst().first)
        return try #require(block.components(separatedBy: "```").first)
    }

    /// What its pods' shell is given: the lines of the one folded scalar (`>-`), joined.
    private static func line() throws -> String {
        let lines = try manifest().split(separator: "\n", omittingEmptySubsequences: false)
        let mark = try #require(lines.firstIndex { $0.hasSuffix("- >-") })
        let indent = lines[mark + 1].prefix { $0 == " " }
        return lines[(mark + 1)...].prefix { $0.hasPrefix(indent) }.map { $0.dropFirst(indent.count) }
            .joined(separator: " ")
    }

    @Test(
        "Kubernetes accepts the manifest, which has everything that an Indexed Job needs",
        .enabled(if: Python.has("kubernetes-validate"), Comment(rawValue: Python.reason))
    )
    func valid() throws {
        let file = TemporaryFile(Array(try Self.manifest().utf8))
        let script = """
            import json, sys, yaml, kubernetes_validate
            job, = yaml.safe_load_all(open(sys.argv[1]))
            kubernetes_validate.validate(job, "1.37", strict=True)
            print(json.dumps(job))
            """
        let read = try Python.run(script, file.path)
        #expect(read.status == 0, "\(read.err)")
        let job = try #require(try JSONSerialization.jsonObject(with: Data(read.out.utf8)) as? [String: Any])
        #expect(job["apiVersion"] as? String == "batch/v1" && job["kind"] as? String == "Job")
        let spec = try #require(job["spec"] as? [String: Any])
        #expect(spec["completionMode"] as? String == "Indexed")
        let parts = try #require(spec["completions"] as? Int)
        // All at once, or some would start after the others have ended.
        #expect(spec["parallelism"] as? Int == parts)
        let pod = try #require((spec["template"] as? [String: Any])?["spec"] as? [String: Any])
        // A part that is made again would make its load again.
        #expect(pod["restartPolicy"] as? String == "Never" && spec["backoffLimit"] as? Int == 0)
        let container = try #require((pod["containers"] as? [[String: Any]])?.first)
        #expect(container["command"] as? [String] == ["/bin/sh", "-c"])
        let line = try Self.line()
        #expect(container["args"] as? [String] == [line])
        #expect(line.contains("--shard /\(parts) "))
        let mount = try #require((container["volumeMounts"] as? [[String: Any]])?.first)
        #expect(line.contains("json=\(mount["mountPath"] ?? "")/"))
        #expect((pod["volumes"] as? [[String: Any]])?.map { $0["name"] as? String } == [mount["name"] as? String])
    }

    @Test("the pods of an indexed job, as processes with Kubernetes' index, make one run together")
    func pods() throws {
        let server = try TestServer.start(loops: 1)
        defer { server.stop() }
        let folder = NSTemporaryDirectory() + "/volley-job-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var line = try Self.line()
        // The next full minute is a minute away, and a minute of 20,000 a second no test.
        for (theirs, ours) in [
            ("exec volley ", "exec \(EndedProgram.built("volley")) -q -T 60s --drain 60s "),
            ("$(( ($(date +%s) / 60 + 1) * 60 ))", "$(( $(date +%s) + 1 ))"),
            ("--rate 20k -d 60s -c 400", "--rate 200 -d 1s -c 8"),
            ("json=/reports/", "json=\(folder)/"), ("http://server:8080/", server.url("/bytes/8")),
        ] {
            #expect(line.contains(theirs))
            line = line.replacing(theirs, with: ours)
        }
        let pods = try (0..<4).map { index in
            try ChildProcess("/usr/bin/env", ["JOB_COMPLETION_INDEX=\(index)", "/bin/sh", "-c", line])
        }
        for pod in pods { #expect([0, 3].contains(try pod.waitForEnd())) }
        #expect(server.requestCount == 200)
        let merged = try EndedProgram(
            built: "volley",
            ["merge", "--format", "json"] + (0..<4).map { "\(folder)/part-\($0).json" }
        )
        #expect(merged.number("requests", "sent") == 200, "\(merged.err)")
        #expect(merged.number("schedule", "due") == 200)
        #expect(merged.number("run", "merged_from") == 4)
    }
}
