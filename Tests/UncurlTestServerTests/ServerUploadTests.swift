import Testing
import UncurlHTTP1

@testable import UncurlTestServer

@Suite("The server's side of resumable uploads")
struct ServerUploadTests {
    private func request(_ method: String, _ path: String, _ fields: [String], _ content: String = "") -> String {
        let hasContent = !content.isEmpty || method == "POST" || method == "PATCH"
        let length = hasContent ? ["Content-Length: \(content.utf8.count)"] : []
        let lines = ["\(method) \(path) HTTP/1.1", "Host: a"] + fields + length
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + content
    }

    private func complete(_ version: Int, _ isComplete: Bool) -> String {
        version == 3 ? "Upload-Incomplete: ?\(isComplete ? 0 : 1)" : "Upload-Complete: ?\(isComplete ? 1 : 0)"
    }

    /// What stands behind the last head's beginning.
    private func last(_ server: MachineHarness) -> String {
        server.text.split(separator: "HTTP/1.1 ").last.map(String.init) ?? ""
    }

    @Test("an upload in three parts completes in each version", arguments: [3, 5, 6])
    func parts(version: Int) {
        let server = MachineHarness()
        let (name, media) = ("Upload-Draft-Interop-Version: \(version)", "Content-Type: application/partial-upload")
        server.play(request("POST", "/resumable-upload", [name, complete(version, false)], "ab"))
        let place = "http://a/resumable-upload/1"
        #expect(
            server.text.hasPrefix(
                "HTTP/1.1 104 Upload Resumption Supported\r\n\(name)\r\nLocation: \(place)\r\n\r\nHTTP/1.1 201 Created\r\n"
            )
        )
        #expect(last(server).contains("\(complete(version, false))\r\n") && last(server).contains("Location: \(place)"))
        server.play(request("HEAD", "/resumable-upload/1", [name]))
        #expect(last(server).hasPrefix("204 ") && last(server).contains("Upload-Offset: 2\r\n"))
        #expect(last(server).contains("Cache-Control: no-store\r\n"))
        let more = [name, media, "Upload-Offset: 2", complete(version, false)]
        server.play(request("PATCH", "/resumable-upload/1", more, "c"))
        #expect(last(server).hasPrefix("201 "))
        let end = [name, media, "Upload-Offset: 3", complete(version, true)]
        server.play(request("PATCH", "/resumable-upload/1", end))
        #expect(last(server).hasPrefix("200 ") && last(server).contains("\(complete(version, true))\r\n"))
        // The hash of "abc" (FIPS 180-4).
        #expect(server.text.contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        server.play(request("HEAD", "/resumable-upload/1", [name]))
        #expect(last(server).contains("\(complete(version, true))\r\n"))
        server.play(request("DELETE", "/resumable-upload/1", [name]))
        server.play(request("HEAD", "/resumable-upload/1", [name]))
        #expect(last(server).hasPrefix("404 "))
    }

    @Test("a request that does not fit the upload is refused before its content comes")
    func refusals() {
        let version = "Upload-Draft-Interop-Version: 6"
        func answer(_ method: String, _ path: String, _ fields: [String], _ content: String = "") -> String {
            let uploads = ServerUploads()
            let first = MachineHarness(uploads: uploads)
            first.play(request("POST", "/resumable-upload", [version, "Upload-Complete: ?0"], "ab"))
            let server = MachineHarness(uploads: uploads)
            server.play(request(method, path, [version] + fields, content))
            return server.text
        }
        let media = "Content-Type: application/partial-upload"
        let rest = "/resumable-upload/1"
        let wrong = answer("PATCH", rest, [media, "Upload-Offset: 1", "Upload-Complete: ?1"], "b")
        #expect(wrong.hasPrefix("HTTP/1.1 409 ") && wrong.contains("Upload-Offset: 2"))
        #expect(answer("PATCH", rest, ["Upload-Offset: 2", "Upload-Complete: ?1"], "c").hasPrefix("HTTP/1.1 415 "))
        #expect(answer("PATCH", rest, [media, "Upload-Complete: ?1"], "c").hasPrefix("HTTP/1.1 400 "))
        #expect(answer("PATCH", rest, [media, "Upload-Offset: 2"], "c").hasPrefix("HTTP/1.1 400 "))
        #expect(answer("PATCH", rest + "7", [media], "c").hasPrefix("HTTP/1.1 404 "))
        #expect(answer("PUT", rest, [], "c").hasPrefix("HTTP/1.1 405 "))
        #expect(answer("POST", "/resumable-upload", [], "c").hasPrefix("HTTP/1.1 400 "))
        #expect(answer("POST", "/resumable-upload?cut=x", ["Upload-Complete: ?1"], "c").hasPrefix("HTTP/1.1 400 "))
    }

    @Test("connections are reset as planned, and the received bytes count")
    func cuts() {
        let uploads = ServerUploads()
        let version = "Upload-Draft-Interop-Version: 6"
        let server = MachineHarness(uploads: uploads)
        let text = request("POST", "/resumable-upload?cut=4&times=1", [version, "Upload-Complete: ?1"], "abcdefgh")
        #expect(server.receive(String(text.dropLast(5))) == .input)
        #expect(server.receive("def") == .end(.reset))
        let next = MachineHarness(uploads: uploads)
        next.play(request("HEAD", "/resumable-upload/1", [version]))
        #expect(next.text.contains("Upload-Offset: 6\r\n"))
    }

    @Test("a connection whose upload goes on in another one adds nothing more")
    func replaced() {
        let uploads = ServerUploads()
        let version = "Upload-Draft-Interop-Version: 5"
        let server = MachineHarness(uploads: uploads)
        let text = request("POST", "/resumable-upload", [version, "Upload-Complete: ?1"], "abcdefgh")
        #expect(server.receive(String(text.dropLast(5))) == .input)
        let next = MachineHarness(uploads: uploads)
        next.play(request("HEAD", "/resumable-upload/1", [version]))
        #expect(next.text.contains("Upload-Offset: 3\r\n"))
        #expect(server.receive("defgh") == .end(.reset))
        let rest = [version, "Upload-Offset: 3", "Upload-Complete: ?1"]
        next.play(request("PATCH", "/resumable-upload/1", rest, "defgh"))
        #expect(next.text.contains("\"length\": 8"))
    }

    @Test("only the newest uploads are kept, and a request of another kind is counted")
    func bounds() {
        let uploads = ServerUploads()
        for _ in 0...ServerUploads.most { _ = uploads.make(ServerUpload.Cuts(octets: 0, times: 0)) }
        #expect(uploads.find("1") == nil && uploads.find("2") != nil && uploads.find("x") == nil)
        let server = MachineHarness()
        server.play(request("POST", "/resumable-upload", [], "abc"))
        #expect(server.text.contains("\"bytes\": 3") && !server.text.contains("104"))
    }
}
