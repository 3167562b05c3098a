// A download that is stopped on its way and goes on where it stopped.
// Usage: ResumedDownload [URL]. Without one it loads from a server of its own.
import Synchronization
import Uncurl
import UncurlTestServer

@main
enum Main {
    static func main() async throws {
        let own = CommandLine.arguments.count > 1 ? nil : try TestServer.start()
        let url = own?.url("/range/4000000") ?? CommandLine.arguments[1]
        let manager = HTTPSessionManager()
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).download")
        defer { try? FileManager.default.removeItem(at: place) }

        // Its progress is told on another thread.
        let control = Mutex<TransferControl?>(nil)
        var request = HTTPRequest(url)
        // Slow enough to be stopped.
        request.options.throttle = Throttle(download: 4_000_000)
        request.options.downloadProgress = { progress in
            // Half of it is enough for a first try.
            if (progress.fraction ?? 0) > 0.5 { control.withLock { $0 }?.cancel() }
        }
        let transfer = manager.downloadTransfer(request, to: .file(place))
        control.withLock { $0 = transfer.control }
        transfer.resume()
        let first = await transfer.response
        guard let data = first.resumeData else { return print("nothing to go on with:", first) }
        print("stopped; \(data.count) bytes of resume data")

        let rest = await manager.downloadResponse(resuming: data, to: .file(place))
        let size = try rest.result.get().resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        print("all of it: \(size) bytes, by a \(rest.statusCode ?? 0)")
    }
}
