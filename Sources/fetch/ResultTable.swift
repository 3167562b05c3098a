import UncurlEngine
import UncurlReactor
import UncurlTLS

/// The lines that tell how transfers went, in columns.
enum ResultTable {
    static let header = line(
        [
            "status", "bytes", "on the wire", "coding", "connection", "TLS", "look-up", "connect", "handshake",
            "first byte", "total",
        ],
        "URL"
    )

    /// - Parameter coding: the response's Content-Encoding.
    static func row(_ url: HTTPURL, _ report: ExchangeReport, coding: String?) -> String {
        let timings = report.timings
        // A connection's look-up and connect belong to the exchange that it was made for.
        let record = report.reusedConnection ? nil : report.connection
        let dial = record?.timings
        return line(
            [
                report.status.map(String.init) ?? "-",
                String(report.contentDelivered),
                coding == nil ? "-" : String(report.contentReceived),
                coding ?? "-",
                report.reusedConnection ? "reused" : "new",
                report.connection?.security.map(version) ?? "-",
                time(from: dial?.lookupStart, to: dial?.lookupEnd),
                time(from: dial?.connectStart, to: dial?.connectEnd),
                time(from: record?.handshake.start, to: record?.handshake.end),
                time(from: timings.requestStart, to: timings.responseStart),
                time(from: timings.start, to: timings.responseEnd),
            ],
            url.description
        )
    }

    private static let widths = [6, 10, 11, 8, 10, 4, 10, 10, 10, 10, 11]

    /// `1.3`, and `1.3+` where a session was resumed.
    private static func version(_ info: TLSInfo) -> String {
        let number =
            switch info.version {
            case .v1_2: "1.2"
            case .v1_3: "1.3"
            }
        return info.isResumed ? number + "+" : number
    }

    private static func line(_ cells: [String], _ url: String) -> String {
        let padded = zip(cells, widths).map { cell, width in
            String(repeating: " ", count: max(0, width - cell.count)) + cell
        }
        return padded.joined(separator: "  ") + "  " + url + "\n"
    }

    /// `12.34 ms`: one unit for all, so that the eye can compare.
    private static func time(from start: Instant?, to end: Instant?) -> String {
        guard let start, let end else { return "-" }
        let hundredths = (max(0, end.nanoseconds(since: start)) + 5_000) / 10_000
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) ms"
    }
}
