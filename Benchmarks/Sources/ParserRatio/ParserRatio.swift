import Glibc

/// Prints input × feed: nanoseconds of CPU a message, ours / picohttpparser / llhttp, and the ratios.
///
/// Every figure is the median of interleaved rounds (ours, pico, llhttp, ours, …), since neighbours on a shared machine
/// move single figures by a third; the spread stands beside it.
@main
struct ParserRatio {
    static let inputs: [(name: String, messages: Int)] = [
        ("resp-minimal", 1), ("resp-small-api", 1), ("resp-small-api-x64", 64), ("resp-large-headers", 1),
        ("req-browser", 1), ("resp-chunked-small", 1), ("resp-chunked-tiny", 1), ("resp-chunked-large", 1),
        ("resp-content-length-256k", 1),
    ]
    static let feeds = [Int.max, 1448, 64, 1]
    static let rounds = 7
    static let secondsARound = 0.04

    static func main() {
        guard CommandLine.arguments.count >= 3, let peers = Peers(library: CommandLine.arguments[1]) else {
            print("usage: ParserRatio LIBRARY FOLDER [INPUT…]    (peers.sh does this)")
            exit(1)
        }
        let wanted = CommandLine.arguments.dropFirst(3)
        print(
            pad("input", 26),
            pad("feed", 6),
            left("ours ns", 10),
            left("min-max", 16),
            left("pico ns", 10),
            left("llhttp ns", 10),
            left("/pico", 7),
            left("/llhttp", 8)
        )
        for (name, messages) in inputs where wanted.isEmpty || wanted.contains(name) {
            guard let input = read("\(CommandLine.arguments[2])/\(name).http") else {
                print("cannot read \(name).http in \(CommandLine.arguments[2])")
                exit(1)
            }
            for feed in feeds {
                measure(name, input, messages, feed, peers)
            }
        }
    }

    static func measure(_ name: String, _ input: [UInt8], _ messages: Int, _ feed: Int, _ peers: Peers) {
        let isRequest = name.hasPrefix("req-")
        var ours = Messages()
        let runs: [(Int) -> Void] = [
            { ours.run(input, feed: feed, isRequest: isRequest, rounds: $0) },
            { peers.runPico(input, feed: feed, isRequest: isRequest, rounds: $0) },
            { peers.runLLHTTP(input, feed: feed, isRequest: isRequest, rounds: $0) },
        ]
        let counts = runs.map(calibrate)
        var figures: [[Double]] = [[], [], []]
        for _ in 0..<rounds {
            for index in runs.indices {
                let start = cpuSeconds()
                runs[index](counts[index])
                figures[index].append((cpuSeconds() - start) * 1e9 / Double(counts[index] * messages))
            }
        }
        let sorted = figures.map { $0.sorted() }
        let median = sorted.map { $0[$0.count / 2] }
        print(
            pad(name, 26),
            pad(feed == .max ? "whole" : "\(feed)", 6),
            left(text(median[0]), 10),
            left("\(text(sorted[0].first!))-\(text(sorted[0].last!))", 16),
            left(text(median[1]), 10),
            left(text(median[2]), 10),
            left(ratio(median[0] / median[1]), 7),
            left(ratio(median[0] / median[2]), 8)
        )
    }

    /// How often to run so that a round takes `secondsARound`.
    static func calibrate(_ run: (Int) -> Void) -> Int {
        var count = 1
        while true {
            let start = cpuSeconds()
            run(count)
            let seconds = cpuSeconds() - start
            if seconds > secondsARound / 4 { return max(1, Int(Double(count) * secondsARound / seconds)) }
            count *= 2
        }
    }

    static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }

    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    static func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    static func text(_ value: Double) -> String {
        value < 100 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }

    static func ratio(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
