internal import UncurlHTTP1
internal import UncurlLibC
internal import UncurlReactor
import UncurlText

/// The answers of load runs, made without an allocation: `GET /`, and `GET /bytes/n` up to 16 KiB.
///
/// The octets up to and including Date are made once per second; the rest is three copies.
struct FastRoutes {
    /// A longer `/bytes/n` uses the generator, which needs no memory either.
    static let longest = 16 * 1024

    private var common: [UInt8] = []
    private var freshUntil = Instant(nanoseconds: .min)
    private let home: [UInt8]
    /// The first octets of seed 0.
    private let octets = [UInt8].random(longest, seed: 0)

    init() {
        var home: [UInt8] = []
        let text = Array(RouteResponse.home.utf8)
        home.append("Content-Type: text/plain; charset=utf-8\r\nContent-Length: ")
        home.append(decimal: UInt64(text.count))
        home.append("\r\n\r\n")
        self.home = home + text
    }

    /// Appends the response if the head asks for one of these. Otherwise returns false and does not change `output`.
    @inline(__always)
    mutating func answer(_ head: borrowing RequestHead, _ now: Instant, to output: inout [UInt8]) -> Bool {
        guard head.hasMethod("GET") else { return false }
        let fields = head.fields
        let range = head.targetRange
        let target = fields.block.span.extracting(range)
        if target.count == 1, target[0] == UInt8(ascii: "/") {
            begin(now, &output)
            output.append(home.span)
            return true
        }
        guard let count = FastRoutes.count(target) else { return false }
        begin(now, &output)
        output.append("Content-Type: application/octet-stream\r\nContent-Length: ")
        output.append(decimal: UInt64(count))
        output.append("\r\n\r\n")
        output.append(octets.span.extracting(first: count))
        return true
    }

    /// `Date` as every response carries it (RFC 9110 §6.6.1).
    mutating func date(_ now: Instant) -> String {
        refresh(now)
        return String(decoding: common[dateRange], as: UTF8.self)
    }

    private var dateRange: Range<Int> { (common.count - 31)..<(common.count - 2) }

    /// The n of `/bytes/n`, if it is at most ``longest``, with no query behind it.
    private static func count(_ target: Span<UInt8>) -> Int? {
        let prefix: StaticString = "/bytes/"
        guard (8...12).contains(target.count) else { return nil }
        for index in 0..<7 where target[index] != (unsafe prefix.utf8Start[index]) { return nil }
        var value = 0
        for index in 7..<target.count {
            let digit = target[index] &- 48
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value <= longest ? value : nil
    }

    @inline(__always)
    private mutating func begin(_ now: Instant, _ output: inout [UInt8]) {
        refresh(now)
        output.append(common.span)
    }

    @inline(__always)
    private mutating func refresh(_ now: Instant) {
        if now >= freshUntil { renew(now) }
    }

    private mutating func renew(_ now: Instant) {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        freshUntil = now.advanced(byNanoseconds: 1_000_000_000 - Int64(time.tv_nsec))
        common.removeAll(keepingCapacity: true)
        common.append("HTTP/1.1 200 OK\r\nServer: uncurl-httpbin\r\nDate: ")
        HTTPDate.append(Int64(time.tv_sec), to: &common)
        common.append("\r\n")
    }
}
