import Dispatch
import Synchronization
import URLLoading

/// One trial a run: `closing URL COUNT`, `sessions URL COUNT`, `slow URL MILLISECONDS`, `download URL`,
/// `upload URL FILE`, `bytes URL`, `lines URL`, `chunks URL`, `poison URL COUNT MICROSECONDS`, `pairs URL COUNT`.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, let url = URL(string: arguments[1]) else {
            let trials = "closing|sessions|slow|download|upload|bytes|lines|chunks|poison|pairs"
            print("usage: trials \(trials) URL [COUNT, MILLISECONDS OR FILE]")
            return
        }
        let number = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
        switch arguments[0] {
        case "closing": try await closing(url, number)
        case "sessions": try await sessions(url, number)
        case "slow": try await slow(url, Double(number) / 1000)
        case "download": try await download(url)
        case "upload": try await upload(url, URL(fileURLWithPath: arguments.count > 2 ? arguments[2] : ""))
        case "bytes", "lines", "chunks": try await read(url, arguments[0])
        case "poison": try await HandOver.poison(url, number, Int(arguments.last ?? "") ?? 0)
        case "pairs": try await HandOver.pairs(url, number)
        default: print("no such trial: \(arguments[0])")
        }
    }

    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.connectionProxyDictionary = [:]
        return configuration
    }

    /// One after the other against a server that closes after each answer. Prints when each began and ended, in nanoseconds of
    /// CLOCK_MONOTONIC, for whoever knows what else went on then.
    private static func closing(_ url: URL, _ count: Int) async throws {
        let session = URLSession(configuration: configuration)
        var (failed, spans) = (0, [(begin: UInt64, end: UInt64)]())
        spans.reserveCapacity(count)
        for _ in 0..<count {
            let begin = now
            do { _ = try await session.data(from: url) } catch { failed += 1 }
            spans.append((begin, now))
        }
        print("requests \(count) failed \(failed)")
        for span in spans { print(span.begin, span.end) }
    }

    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Made, used once, invalidated: every third while its request is on its way.
    private static func sessions(_ url: URL, _ count: Int) async throws {
        try await burst(url, min(count, 2_000))
        let before = Footprint.now
        try await burst(url, count)
        let after = Footprint.now
        print("sessions \(count) before \(before) after \(after)")
    }

    private static func burst(_ url: URL, _ count: Int) async throws {
        for index in 0..<count {
            let session = URLSession(configuration: configuration)
            if index % 3 == 0 {
                session.dataTask(with: url) { _, _, _ in }.resume()
                session.invalidateAndCancel()
            } else {
                _ = try await session.data(from: url)
                session.finishTasksAndInvalidate()
            }
        }
        // The last ones end on their own threads.
        try await Task.sleep(for: .seconds(1))
    }

    /// Reads the content by one of the sequences, several times. Prints the median time of a reading, in milliseconds.
    private static func read(_ url: URL, _ sequence: String) async throws {
        let session = URLSession(configuration: configuration)
        try await warmUp(session, url)
        var (times, count) = ([Double](), 0)
        for _ in 0..<15 {
            let began = now
            let bytes = try await session.bytes(from: url).0
            count = 0
            switch sequence {
            case "bytes": for try await byte in bytes { count += byte == 0x0A ? 1 : 0 }
            case "lines": for try await line in bytes.lines { count += line.isEmpty ? 0 : 1 }
            default: for try await chunk in bytes.chunks { count += chunk.count }
            }
            times.append(Double(now - began) / 1e6)
        }
        print("count \(count) ms \(times.sorted()[times.count / 2])")
    }

    /// A delegate that takes its time with each piece.
    private static func slow(_ url: URL, _ seconds: Double) async throws {
        let delegate = Slow(seconds)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        try await warmUp(session, url)
        let before = Footprint.now
        session.dataTask(with: url).resume()
        await delegate.end()
        print("bytes \(delegate.bytes) growth_kib \(Footprint.peak - before.resident)")
    }

    /// What every program pays once is not what the trial is about.
    private static func warmUp(_ session: URLSession, _ url: URL) async throws {
        guard let root = URL(string: "/", relativeTo: url) else { return }
        for _ in 0..<3 { _ = try await session.data(from: root) }
    }

    private static func download(_ url: URL) async throws {
        let session = URLSession(configuration: configuration)
        try await warmUp(session, url)
        let before = Footprint.now
        let (file, _) = try await session.download(from: url)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        try FileManager.default.removeItem(at: file)
        print("bytes \(size) growth_kib \(Footprint.peak - before.resident)")
    }

    private static func upload(_ url: URL, _ file: URL) async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let session = URLSession(configuration: configuration)
        try await warmUp(session, url)
        let before = Footprint.now
        let (_, response) = try await session.upload(for: request, fromFile: file)
        print(
            "status \((response as? HTTPURLResponse)?.statusCode ?? 0) growth_kib \(Footprint.peak - before.resident)"
        )
    }
}

/// What the process holds, by the kernel's word.
struct Footprint: CustomStringConvertible {
    let resident: Int
    let threads: Int
    let descriptors: Int

    static var now: Footprint {
        Footprint(
            resident: field("VmRSS"),
            threads: field("Threads"),
            descriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        )
    }

    static var peak: Int { field("VmHWM") }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }.flatMap { Int($0) } ?? 0
    }

    var description: String { "resident_kib \(resident) threads \(threads) descriptors \(descriptors)" }
}

private final class Slow: NSObject, URLSessionDataDelegate {
    private let pause: Double
    private let state = Mutex((bytes: 0, waiter: CheckedContinuation<Void, Never>?.none, isOver: false))

    init(_ pause: Double) { self.pause = pause }

    var bytes: Int { state.withLock { $0.bytes } }

    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        Thread.sleep(forTimeInterval: pause)
        state.withLock { $0.bytes += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let waiter = state.withLock { state in
            state.isOver = true
            return state.waiter
        }
        waiter?.resume()
    }
}
