public import UncurlLoad
import UncurlText

extension LoadReport {
    /// The report for people, as volley prints it. It has several lines and ends with a line end.
    public var text: String { result.text }

    /// The report for programs: one JSON document, which `volley schema` describes. Its times are nanoseconds.
    public var json: String { result.json.text }
}
