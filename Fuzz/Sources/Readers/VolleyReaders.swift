@testable import UncurlLoad
@testable import volley

/// The load tester's files and words: scenarios, requests as other programs write them, and values of flags.
extension Reader {
    static let volley =
        [
            Reader("yaml", of: "volley/Scenarios/YAMLReader") { octets in _ = try? YAMLReader.read(octets) },
            Reader("scenario", of: "volley/Scenarios/ScenarioFile", rest: "the files that it names") { octets in
                // Files of this machine.
                let text = String(decoding: octets, as: UTF8.self)
                if has(text, "file") || has(text, "line") { return }
                for path in ["scenario.yml", "scenario.json"] { _ = try? ScenarioFile(octets, path).summary }
            },
            Reader("quantity", of: "volley/Values/Quantity", text: quantity),
            Reader("stages", of: "volley/Values/StagePlan", text: { _ = try? StagePlan([$0]) }),
            Reader(
                "threshold",
                of: "volley/Values/ThresholdText",
                rest: "the names of a run's requests",
                text: { _ = try? Threshold($0) }
            ),
            Reader("input-urls", of: "volley/Inputs/InputFormat", .urls),
            Reader("input-vegeta", of: "volley/Inputs/InputFormat", .vegeta, .vegetaJSON),
            Reader("input-har", of: "volley/Inputs/RecordedInput", .har),
            Reader("input-access-log", of: "volley/Inputs/RecordedInput", .accessLog),
            Reader("input-curl", of: "volley/Inputs/CurlInput", .curl),
            Reader("input-postman", of: "volley/Inputs/PostmanInput", .postman),
        ]

    private init(_ name: String, of source: String, _ formats: InputFormat...) {
        self.init(name, of: source) { octets in
            for format in formats {
                // A target's `@name` is a file of this machine.
                if case .vegeta = format, octets.contains(UInt8(ascii: "@")) { continue }
                guard let input = try? format.parse(octets, file: "input") else { continue }
                for draft in input.drafts { require(!draft.url.isEmpty, "a request has a URL") }
            }
        }
    }

    /// Counts, times and rates: each text by every grammar.
    private static func quantity(_ text: String) {
        _ = try? UInt64(count: text, for: "-c")
        if let time = try? UInt64(time: text, for: "-d") { require(time > 0, "a time is more than nothing") }
        _ = try? Rate(text, for: "-R")
    }
}
