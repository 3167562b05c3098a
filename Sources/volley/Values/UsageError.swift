internal import UncurlLibC
import UncurlLoad
import UncurlLoadReports
import UncurlLocust
import UncurlReactor
import UncurlText

extension UsageError {
    /// Makes an error of the load generator's, with flags as the names of settings. The parts of a request in a file
    /// have no flags.
    init(_ error: LoadTestError) {
        let names: SettingNames = if case .at = error { .requestsOfFiles } else { .flags }
        self.init(error.text(names))
    }

    /// Makes an error of the load generator's about a request of a file.
    init(_ error: LoadTestError, at place: InputPlace) { self.init(.at(place.inMessages, error)) }
}

extension SettingNames {
    /// The flags, with words for the parts of a request.
    static var requestsOfFiles: SettingNames {
        flags.merging([.method: "the method", .headers: "the field", .body: "the content"]) { $1 }
    }

    static var flags: SettingNames {
        [
            .method: "--method", .headers: "-H", .body: "--body or --body-file", .connections: "-c", .threads: "-t",
            .duration: "-d", .requests: "-n", .rate: "--rate", .stages: "--stage", .think: "--think",
            .warmup: "--warmup",
            .timeout: "-T", .drain: "--drain", .authorities: "--cacert FILE", .isInsecure: "--insecure",
            .connectRate: "--connect-rate", .sourceAddresses: "--source-address", .connectionClose: "--close",
            .connectTo: "--connect-to", .pipeline: "--pipeline",
        ]
    }
}

func orUsage<Value>(_ value: @autoclosure () throws(LoadTestError) -> Value) throws(UsageError) -> Value {
    do throws(LoadTestError) { return try value() } catch { throw UsageError(error) }
}

func orUsage<Value>(
    errno value: @autoclosure () throws(Errno) -> Value,
    _ words: (Errno) -> String
) throws(UsageError) -> Value {
    do throws(Errno) { return try value() } catch { throw UsageError(words(error)) }
}

extension BlockingOutput {
    /// Writes what the program was asked for to standard output.
    static func answer(_ text: String) throws(UsageError) {
        try orUsage(errno: try writeAll(text, to: standard)) {
            "standard output cannot be written: \($0): open it"
        }
    }
}

extension TemplateSlots {
    /// Marks the places in a text of the command line or of an input.
    mutating func marked(_ text: String) throws(UsageError) -> String {
        String(decoding: try marked(Array(text.utf8)), as: UTF8.self)
    }

    mutating func marked(_ bytes: [UInt8]) throws(UsageError) -> [UInt8] {
        do throws(UsageError) {
            return try protect(bytes)
        } catch {
            throw UsageError("--template\(error.isOfFile ? "" : ":") \(error)")
        }
    }
}

extension Set<String> {
    func refuse(_ flags: [String], _ words: String) throws(UsageError) {
        if let flag = flags.first(where: contains) { throw UsageError("\(flag) \(words)") }
    }
}

func need(_ condition: Bool, _ words: @autoclosure () -> String) throws(UsageError) {
    guard condition else { throw UsageError(words()) }
}

func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

extension JSONTree {
    static func read(
        _ bytes: [UInt8],
        _ file: String,
        uniqueNames: Bool = false,
        loneSurrogates: Bool = false
    ) throws(UsageError) -> JSONTree {
        do throws(JSONReader.Problem) {
            return try JSONReader.read(bytes, uniqueNames: uniqueNames, loneSurrogates: loneSurrogates)
        } catch {
            let (line, column) = place(of: error.offset, in: bytes)
            throw UsageError("\(quoted(file)) cannot be read as JSON: line \(line), column \(column): \(error)")
        }
    }

    /// The line and the column of a byte, both counted from 1. Columns are characters of Unicode.
    private static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes[..<offset]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // The bytes 0x80 to 0xBF continue a character.
        return (before.count { $0 == 0x0A } + 1, before[start...].count { $0 & 0xC0 != 0x80 } + 1)
    }
}
