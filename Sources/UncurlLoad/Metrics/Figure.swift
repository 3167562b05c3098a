import UncurlText

/// The counts of a run, an interval or another stretch, and the time in which they were counted.
package struct Measured: Sendable {
    package let metrics: Metrics
    package let work: LoadKind
    /// In nanoseconds.
    package let time: UInt64
    /// The names of the requests, in the order of the metrics' own.
    package let names: [String]
    /// Requests without an end, and for how many nanoseconds they have waited at least. Conditions count them among the
    /// times that the run is about.
    package let waiting: [(count: UInt64, time: UInt64)]

    package init(
        _ metrics: Metrics,
        of work: LoadKind,
        in time: UInt64,
        names: [String] = [],
        waiting: [(count: UInt64, time: UInt64)] = []
    ) {
        (self.metrics, self.work, self.time, self.names, self.waiting) = (metrics, work, time, names, waiting)
    }

    package func perSecond(_ count: UInt64) -> Double { time == 0 ? 0 : Double(count) / (Double(time) / 1e9) }

    /// The requests, or connections where only these are made, that came to an end.
    package var ended: UInt64 {
        let begun = work == .handshakes ? metrics[.connectionsOpened] : metrics[.completed] &+ metrics[.failed]
        return begun &+ metrics[.connectionsFailed]
    }
}

/// A figure of a run: its place in the reports, and what each of them says of it. The rows are ``all``; whatever
/// handles every figure is a loop over them. A new counter is a ``Count``, its row, and the place that counts it.
package struct Figure: Sendable {
    /// The members of a JSON report that have figures.
    package enum Section: String, Sendable, CaseIterable {
        case requests, rate, bytes, connections, latency, schedule, stream, websocket
        case intervals
        /// No member: what only conditions know, or other processes.
        case none

        package var part: Part {
            switch self {
            case .schedule: .schedule
            case .stream: .stream
            case .websocket: .webSocket
            case .requests, .rate, .bytes, .connections, .latency, .intervals, .none: .run
            }
        }
    }

    package enum Value: Sendable {
        case count(Count)
        case times(Times)
        /// A number that follows from the counts; null in a run without it.
        case whole(@Sendable (Measured) -> UInt64?)
        /// A number divided by the measured time in seconds.
        case perSecond(@Sendable (Measured) -> UInt64?)
        case ratio(@Sendable (Measured) -> Double?)
        case flag(@Sendable (Measured) -> Bool)
        /// What no count says: the report knows it. The text is its JSON Schema.
        case other(String)
    }

    package let section: Section
    package let name: String
    package let value: Value
    package var help: String?
    /// Whether null stands for the figure in some runs, and whether the schema has no least value.
    package var isOptional = false
    package var isUnbounded = false
    /// The name among the counts that one process sends another; nil for what follows from others.
    package var tag: String?
    /// The tag of the times in logs and, where these may be about it, in conditions such as `raw_p99`.
    package var series: String?
    package var isInConditions = true
    /// The part, besides the section's own, that a run must have for the series to be in logs.
    package var needs = Part.run
    /// The title of the times in tables for people, and of the figure on a page.
    package var title: String?
    package var page: String?
    package var condition: String?
    package var named: (@Sendable (NamedMetrics) -> Double?)?
    /// Whether two runs are compared by the figure, as a share of the count of this name; nil for all that ended.
    package var isCompared = false
    package var whole: String?
    /// The name for Prometheus, without the ending of counters, and its help. Figures of one name have labels.
    package var metric: String?
    package var metricHelp: String?
    package var label: (name: String, value: String)?
    package var dotted: String
    package var unit: String
    /// What people are told where the count is above zero, or a setting asks for it: the title of a line, and the words
    /// behind the number.
    package var remark: (title: String, words: String)?
    /// Of a figure of intervals: whether JSON has it, and whether a line of comma-separated values has it.
    package var isMember = true
    package var isColumn = false

    init(_ section: Section, _ name: String, _ value: Value, _ help: String? = nil) {
        (self.section, self.name, self.value, self.help) = (section, name, value, help)
        dotted = "volley.\(section.rawValue).\(name)"
        switch value {
        case .count where section != .intervals:
            (tag, unit) = (name, section == .stream ? "{event}" : "{request}")
        case .times: (tag, unit) = (name, "s")
        case .count, .whole, .perSecond, .ratio, .flag, .other: unit = "{request}"
        }
    }

    func with<Property>(_ property: WritableKeyPath<Figure, Property>, _ value: Property) -> Figure {
        var figure = self
        figure[keyPath: property] = value
        return figure
    }

    func exported(_ metric: String, _ help: String? = nil, _ label: (String, String)? = nil) -> Figure {
        var figure = self
        (figure.metric, figure.metricHelp, figure.label) = (metric, help ?? self.help, label.map { ($0.0, $0.1) })
        return figure
    }
}

extension Figure: Hashable {
    package static func == (left: Figure, right: Figure) -> Bool {
        left.section == right.section && left.name == right.name
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(section)
        hasher.combine(name)
    }
}

extension Figure {
    package var count: Count? { if case .count(let count) = value { count } else { nil } }
    package var times: Times? { if case .times(let times) = value { times } else { nil } }

    package var pageTitle: String? { page ?? title }

    package var isInteger: Bool {
        switch value {
        case .count, .whole: true
        case .times, .perSecond, .ratio, .flag, .other: false
        }
    }

    package var isQuotient: Bool {
        switch value {
        case .perSecond, .ratio: true
        case .count, .whole, .times, .flag, .other: false
        }
    }

    /// The number in a run, an interval or another stretch. Nil where the run has none.
    package func number(_ measured: Measured) -> Double? {
        switch value {
        case .count, .whole: integer(measured).map { Double($0) }
        case .perSecond(let count): measured.metrics.has(section.part) ? count(measured).map(measured.perSecond) : nil
        case .ratio(let ratio): measured.metrics.has(section.part) ? ratio(measured) : nil
        case .times, .flag, .other: nil
        }
    }

    /// The whole number in a run. Nil where the run has none.
    package func integer(_ measured: Measured) -> UInt64? {
        guard measured.metrics.has(section.part) else { return nil }
        return switch value {
        case .count(let count): measured.metrics[count]
        case .whole(let count): count(measured)
        case .times, .perSecond, .ratio, .flag, .other: nil
        }
    }
}

extension Figure {
    package static func of(_ section: Section) -> [Figure] { all.filter { $0.section == section } }

    /// The row of each case of ``Times``, in their order.
    package static let times: [Figure] = Times.allCases.compactMap { times in all.first { $0.times == times } }
    package static let tabled: [Figure] = [Part.stream, .schedule, .run, .webSocket].flatMap { part in
        times.filter { $0.section.part == part && $0.title != nil }
    }
    /// The values of labels in the order of a family's figures.
    private static let labels = ["success", "http_error", "opened", "failed", "in", "out"]

    /// The figures of a section that Prometheus and OpenTelemetry have, those of one name together.
    package static func families(of section: Section) -> [[Figure]] {
        let figures = of(section).filter { $0.metric != nil }
        return figures.enumerated().compactMap { place, figure in
            guard figures.firstIndex(where: { $0.metric == figure.metric }) == place else { return nil }
            let place = { (figure: Figure) in labels.firstIndex { $0 == figure.label?.value } ?? 0 }
            return figures.filter { $0.metric == figure.metric }.sorted { place($0) < place($1) }
        }
    }

    package static let judgeable = all.filter { $0.condition != nil }
    package static let compared = all.filter(\.isCompared)
    package static let remarked = all.filter { $0.remark != nil }
}

extension Metrics {
    /// The counts that people are told of where they are above zero, each with its title.
    package var remarks: [(title: String, count: UInt64)] {
        Figure.remarked.compactMap { figure in
            guard let title = figure.remark?.title, let count = figure.count, self[count] > 0 else { return nil }
            return (title.lowercased(), self[count])
        }
    }

    /// One of the histograms, with its tag in logs and reports, and whether it has the times that the run is about.
    package typealias Series = (tag: String, isMain: Bool, histogram: LatencyHistogram)

    /// Returns all histograms of times, those that the run is about first. Of several with one tag, the first counts.
    package func series(_ work: LoadKind) -> [Series] {
        var found: [Series] = []
        let order = [Part.run, .stream, .webSocket, .schedule].flatMap { part in
            Figure.times.filter { $0.section.part == part }
        }
        for figure in order where has(figure.section.part.union(figure.needs)) {
            guard let tag = figure.series, let times = figure.times, !found.contains(where: { $0.tag == tag }) else {
                continue
            }
            let isMain = times == .corrected || times == (work == .requests ? .success : .tls)
            let series = (tag, isMain, self[times])
            if times == .corrected { found.insert(series, at: 0) } else { found.append(series) }
        }
        return found
    }
}

/// Rules of members in the JSON Schema of a report, each in one line.
extension String {
    package static let whole = #"{"type": "integer", "minimum": 0}"#
    package static let real = #"{"type": "number", "minimum": 0}"#
    package static let flag = #"{"type": "boolean"}"#
    package static let text = #"{"type": "string"}"#
    package static let texts = #"{"type": "array", "items": {"type": "string"}}"#
    package static let optionalText = #"{"type": ["string", "null"]}"#
    package static let optionalInteger = #"{"type": ["integer", "null"]}"#

    package static func definition(_ name: String) -> String { ##"{"$ref": "#/$defs/\##(name)"}"## }

    package static func described(_ words: String, _ rule: String) -> String {
        #"{"description": \#(JSONTree.string(words).line()), "# + rule.dropFirst()
    }
}
