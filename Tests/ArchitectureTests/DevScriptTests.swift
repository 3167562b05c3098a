import Foundation
import TestSupport
import Testing

/// What `./dev` does when something outside of it fails, and what the pages say of its commands.
@Suite("The dev script", .ownThread)
struct DevScriptTests {
    /// Runs `./dev lint` with an apt-get of our own, on a machine that seems to have no package.
    private func lint(aptGet: String) throws -> (status: Int32, out: String, calls: [Substring]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let calls = folder.appending(path: "calls").path
        let programs = [
            "swift": "exit 0", "dpkg-query": "exit 1", "sudo": "exec \"$@\"",
            "apt-get": "echo \"$1\" >>'\(calls)'; count=$(wc -l <'\(calls)'); \(aptGet)",
        ]
        for (name, text) in programs {
            let path = folder.appending(path: name).path
            try Data("#!/bin/sh\n\(text)\n".utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let ended = try EndedProgram(
            "/usr/bin/env",
            [
                "PATH=\(folder.path):\(path)", "UNCURL_APT_PAUSE=0", "bash", "-c", "exec \"$0\" lint 2>&1",
                SourceTree.root.appending(path: "dev").path,
            ]
        )
        let called = (try? String(contentsOfFile: calls, encoding: .utf8)) ?? ""
        return (ended.status, ended.out, called.split(separator: "\n"))
    }

    @Test("an install while another program holds dpkg's lock waits for the lock, and then goes on")
    func lock() throws {
        let refusal = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt)"
        let (status, out, calls) = try lint(aptGet: "[ $count != 2 ] || { echo '\(refusal)' >&2; exit 100; }")
        #expect(status == 0, "\(out)")
        #expect(calls == ["update", "install", "install"])
        #expect(out.contains("dev: another program uses apt or dpkg; waiting for it"))
    }

    @Test("an install that fails ends the command with apt's words and a sentence that names the command")
    func failure() throws {
        let (status, out, calls) = try lint(aptGet: "[ $1 = update ] || { echo 'E: no such package' >&2; exit 100; }")
        #expect(status == 100)
        #expect(calls == ["update", "install"])
        let lines = out.split(separator: "\n")
        #expect(lines.contains("E: no such package"), "\(out)")
        #expect(lines.last?.hasPrefix("dev: tools/lint ended with status 100 at line ") == true, "\(out)")
    }

    @Test("each command and each script of tools/ that a text names is there")
    func named() throws {
        let text = { (path: String) in try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8) }
        let line = try #require(try text("dev").firstMatch(of: #/([a-z|]+)\) exec "tools/#))
        let shown = line.output.1.split(separator: "|")
        #expect(shown.count == 7)
        for name in shown { #expect(SourceTree.exists("tools/\(name)")) }
        let endings = [".swift", ".md", ".py", ".sh", ".c", ".yml", "Dockerfile", "uncurl"]
        let texts = ["Sources", "Tests", "Fuzz", "Benchmarks", ".github", ".devcontainer"].flatMap { folder in
            SourceTree.files(in: folder) { name in endings.contains { name.hasSuffix($0) } }
        }
        let scripts = ["tools", ".ci"].flatMap { SourceTree.files(in: $0) { _ in true } }
        let pages = [
            "README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "LIMITS", "MAINTAINERS", "MIGRATION", "SECURITY",
        ]
        .map { "\($0).md" }
        let atTop = try (pages + ["Package.swift"]).map { SourceTree.File(path: $0, text: try text($0), code: "") }
        for file in texts + scripts + atTop {
            for match in file.text.matches(of: #/\./dev ([a-z]+)/#) {
                #expect(shown.contains(match.output.1), "\(file): \(match.output.0)")
            }
            for match in file.text.matches(of: #/[ `("]tools/([a-z]+)/#) where match.output.1 != "common" {
                #expect(SourceTree.exists("tools/\(match.output.1)"), "\(file): \(match.output.0)")
            }
        }
    }
}
