package import UncurlLoad
import UncurlText

/// Merges the reports of a run's parts: it adds counts, merges histograms counter by counter, and computes percentiles
/// from the result.
extension SavedReport {
    package static func merged(_ reports: [SavedReport]) throws(UsageError) -> SavedReport {
        guard let first = reports.first else { throw .nothingToMerge }
        for report in reports.dropFirst() {
            for name in ["mode", "work"] where report.runMember(name) != first.runMember(name) {
                throw .otherKind(report.path, than: first.path, member: name)
            }
        }
        var document = reports.count > 1 ? first.withOwnLimits : first.document
        for report in reports.dropFirst() {
            document = try merge(document, report.withOwnLimits, name: "", report.path)
        }
        if reports.count > 1 { document = recomputed(document, first.isHandshakes, span: span(reports)) }
        let parts = reports.reduce(UInt64(0)) { $0 &+ ($1.document["run"]?["merged_from"]?.integer ?? 1) }
        if let run = document["run"] { document = document.with("run", run.with("merged_from", .integer(parts))) }
        return try SavedReport(document, path: reports.count == 1 ? first.path : "merged")
    }

    private static func merge(
        _ left: JSONTree,
        _ right: JSONTree,
        name: String,
        _ path: String
    ) throws(UsageError) -> JSONTree {
        if same.contains(OctetText(name)) { return left }
        switch (left, right) {
        case (.null, let other), (let other, .null): return other
        case (.integer(let mine), .integer(let theirs)): return .integer(whole(mine, theirs, name))
        case (.number, .number), (.number, .integer), (.integer, .number):
            return .number((left.number ?? 0) + (right.number ?? 0))
        case (.bool(let mine), .bool(let theirs)):
            return .bool(OctetText(name) == "balanced" ? mine && theirs : mine || theirs)
        case (.string, .string): return left
        case (.object(let mine), .object(let theirs)):
            if left["hdr"] != nil, right["hdr"] != nil { return try histograms(left, right, path) }
            let members = try joined(mine, theirs, by: \.0) { mine, theirs throws(UsageError) in
                mine.1 = try merge(mine.1, theirs.1, name: theirs.0, path)
            }
            return .object(members)
        case (.array(let mine), .array(let theirs)): return .array(try lists(mine, theirs, name: name, path))
        case (.integer, _), (.number, _), (.bool, _), (.string, _), (.object, _), (.array, _):
            throw .otherValue(path, member: name)
        }
    }

    /// Settings of the whole run, which are not shares of a part.
    private static let same: Set<OctetText> = Set(
        RunSetting.all.filter(\.isShared).map { OctetText($0.name) } + [
            "schema", "volley", "name", "message_bytes", "binary", "stages", "kind", "stall_ns", "errno", "percentiles",
        ]
    )

    private static func whole(_ mine: UInt64, _ theirs: UInt64, _ name: String) -> UInt64 {
        switch OctetText(name) {
        case "started_unix_ms", "first_ns": min(mine, theirs)
        case "last_ns": max(mine, theirs)
        case "exit_status": Verdict.worse(mine, theirs)
        default: mine &+ theirs
        }
    }

    private static func histograms(
        _ left: JSONTree,
        _ right: JSONTree,
        _ path: String
    ) throws(UsageError) -> JSONTree {
        var sum = LatencyHistogram()
        for part in [left, right] {
            if let slots = try SavedReport.slots(part, path) { sum.merge(slots) }
        }
        guard sum.count <= LatencyHistogram.countLimit else {
            throw .tooManyValues(path, isLog: false)
        }
        return sum.json
    }

    /// Merges rows by the members that identify them, and intervals by time. All other elements are kept.
    private static func lists(
        _ mine: [JSONTree],
        _ theirs: [JSONTree],
        name: String,
        _ path: String
    ) throws(UsageError) -> [JSONTree] {
        let members: [String]
        switch OctetText(name) {
        case "intervals": return try intervals(course(mine, path).merged(with: course(theirs, path)), path)
        case "errors": members = ["phase", "class", "errno_name", "detail"]
        case "agreements": members = ["version", "cipher_suite"]
        case "names": members = ["name"]
        case "notes", "generator_limits": members = []
        default: return mine + theirs
        }
        let key = { (row: JSONTree) in row.string ?? members.map { row[$0]?.string ?? "" }.joined(separator: "\u{0}") }
        return try joined(mine, theirs, by: key) { mine, theirs throws(UsageError) in
            mine = try merge(mine, theirs, name: "", path)
        }
    }

    /// My elements, each merged with theirs of the same key, and the rest of theirs.
    private static func joined<Element>(
        _ mine: [Element],
        _ theirs: [Element],
        by key: (Element) -> String,
        _ merge: (inout Element, Element) throws(UsageError) -> Void
    ) throws(UsageError) -> [Element] {
        var all = mine
        var places = Dictionary(mine.enumerated().map { (OctetText(key($1)), $0) }) { first, _ in first }
        for element in theirs {
            let key = OctetText(key(element))
            if let place = places[key] {
                try merge(&all[place], element)
            } else {
                places[key] = all.count
                all.append(element)
            }
        }
        return all
    }

    private static func course(_ rows: [JSONTree], _ path: String) throws(UsageError) -> RunCourse<JSONTree> {
        var course = RunCourse<JSONTree>()
        for row in rows {
            guard let start = row["start_ns"]?.integer, let end = row["end_ns"]?.integer else { throw .interval(path) }
            course.append(RunCourse.Interval(start: start, end: end, counts: [row]))
        }
        return course
    }

    private static func intervals(_ course: RunCourse<JSONTree>, _ path: String) throws(UsageError) -> [JSONTree] {
        var rows: [JSONTree] = []
        for interval in course.intervals {
            guard var row = interval.counts.first else { continue }
            for other in interval.counts.dropFirst() { row = try merge(row, other, name: "", path) }
            rows.append(row.with("start_ns", .integer(interval.start)).with("end_ns", .integer(interval.end)))
        }
        return rows
    }

    /// The time from the first part's start to the last one's end, in nanoseconds. Starts are known to the millisecond,
    /// and starts less than two milliseconds apart count as simultaneous.
    private static func span(_ reports: [SavedReport]) -> UInt64 {
        let parts = reports.map { report -> (start: UInt64, length: UInt64) in
            let run = { (name: String) in report.document["run"]?[name]?.integer ?? 0 }
            return (run("started_unix_ms") &* 1_000_000 &+ run("warmup_ns"), run("measured_ns"))
        }
        guard let first = parts.map(\.start).min() else { return 0 }
        return parts.map { $0.start - first < 2_000_000 ? $0.length : $0.start - first &+ $0.length }.max() ?? 0
    }

    /// Computes the members that are not sums over the parts: rates and shares of the whole, from its length. Rates of
    /// parts with different lengths cannot be added.
    private static func recomputed(_ document: JSONTree, _ isHandshakes: Bool, span: UInt64) -> JSONTree {
        var document = document
        if let run = document["run"] { document = document.with("run", run.with("measured_ns", .integer(span))) }
        let measured = Measured(counts(document), of: isHandshakes ? .handshakes : .requests, in: span)
        for section in [Figure.Section.rate, .schedule, .stream, .websocket] {
            guard var member = document[section.rawValue] else { continue }
            for figure in Figure.of(section) where member[figure.name] != nil && figure.isQuotient {
                member = member.with(figure.name, figure.number(measured).map { .number($0) } ?? .null)
            }
            document = document.with(section.rawValue, member)
        }
        if let tls = document["tls"], let all = tls["handshakes"]?.number, all > 0, let resumed = tls["resumed"]?.number
        {
            document = document.with("tls", tls.with("resumed_share", .number(resumed / all)))
        }
        return document
    }

    /// The counts of a report, as far as rates and shares need them.
    private static func counts(_ document: JSONTree) -> Metrics {
        var metrics = Metrics()
        for figure in Figure.all {
            guard let count = figure.count, let value = document[figure.section.rawValue]?[figure.name]?.integer else {
                continue
            }
            metrics.parts.formUnion(figure.section.part)
            metrics[count] = value
        }
        let requests = { (name: String) in document["requests"]?[name]?.integer }
        // The numbers come from a file and may be anything, so that the sum of a histogram must not trap.
        metrics[.success].record(0, count: min(requests("succeeded") ?? 0, LatencyHistogram.countLimit))
        // The report of an older volley does not have the successes of the drain.
        if requests("drained_succeeded") == nil { metrics[.drainedSuccesses] = metrics[.drained] }
        return metrics
    }
}

extension SavedReport {
    /// The document with the report's name before each reason why volley was the limit, so that the merged report shows
    /// which part had which reason.
    fileprivate var withOwnLimits: JSONTree {
        guard isLimited, let schedule = document["schedule"] else { return document }
        let named = generatorLimits.map { JSONTree.string("\(oneLine(path)): \($0)") }
        return document.with("schedule", schedule.with("generator_limits", .array(named)))
    }
}
