import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad

/// What a part of a run can cost its lead.
@Suite("Counts of another process", .ownThread)
struct MetricsCodecTests {
    @Test("a part sends as many names as a run has at most")
    func names() {
        let metrics = { (count: Int) -> JSONTree in
            .object([("names", .array([JSONTree](repeating: .object([]), count: count)))])
        }
        #expect(Metrics.decode(metrics(RequestNames.limit))?.names.count == RequestNames.limit)
        #expect(Metrics.decode(metrics(RequestNames.limit + 1)) == nil)
    }

    @Test("texts of combining marks are read in time in proportion to their length")
    func combiningMarks() {
        let failure = { (phase: JSONTree, kind: JSONTree, detail: JSONTree) -> JSONTree in
            let row: [(String, JSONTree)] = [
                ("phase", phase), ("class", kind), ("detail", detail), ("count", .integer(1)), ("first", .integer(1)),
                ("last", .integer(1)),
            ]
            return .object([("failures", .array([.object(row)]))])
        }
        let failures: [(String) -> JSONTree] = [
            { failure(.string($0), "reset", "") }, { failure("tls", .string($0), "") },
            { failure("tls", "reset", .string($0)) },
        ]
        for failure in failures {
            expectProportionalTime(ofMarks: failure) { #expect(Metrics.decode($0) == nil) }
        }
        #expect(Metrics.decode(failure("first-byte", "no-local-port", "x"))?.failures.records.count == 1)
        let agreement = { (suite: JSONTree) -> JSONTree in
            .object([
                (
                    "handshakes",
                    .object([
                        ("agreements", .array([.array([.integer(0x0304), suite, .integer(1)])]))
                    ])
                )
            ])
        }
        expectProportionalTime(ofMarks: JSONTree.string) {
            #expect(Metrics.decode(agreement($0))?.handshakes.sorted.isEmpty == true)
        }
        #expect(Metrics.decode(agreement("TLS_AES_128_GCM_SHA256"))?.handshakes.sorted.count == 1)
    }
}
