public import LoadGenerator

extension LoadReport {
    /// The report for people, as volley prints it: several lines, the last one ended.
    public var text: String { TextReport.text(result) }

    /// The report for programs: one JSON document, which `volley schema` describes. Times in it are nanoseconds.
    public var json: String { JSONReport.text(result) }
}
