import UncurlLoad
import UncurlText

extension SavedReport {
    /// The JSON Schema (draft 2020-12) of a report, which `volley --schema` prints. The members' rules stand beside
    /// their values.
    ///
    /// Any release may add members. `schema` is raised when a member is removed or changes its meaning.
    package static let schemaText = object(
        rules(RunResult.members),
        0,
        "Times are nanoseconds, rates are per second of measured time.",
        inLines: true,
        before: [
            #""$schema": "https://json-schema.org/draft/2020-12/schema""#, #""title": "A report of volley""#,
        ],
        after: [
            #""$defs": "#
                + block(
                    [
                        definition(
                            "websocket",
                            section(
                                .websocket,
                                "The figures of WebSockets, whose messages are the requests. Null for others."
                            )
                        ),
                        definition("schedule", section(.schedule, "The figures of an open loop; null otherwise.")),
                        definition(
                            "intervals",
                            array(
                                section(.intervals, depth: 6),
                                4,
                                "The course of the measured part. In a long run several intervals are combined."
                            )
                        ),
                        definition(
                            "runs",
                            table(RunResult.runMembers, "Each single run of --repeat; otherwise the one run.")
                        ),
                        definition(
                            "names",
                            table(
                                RunResult.nameMembers,
                                "The figures of each name, if requests have names, in the order of their first use."
                            )
                        ),
                        definition(
                            "limits",
                            table(RunResult.findingMembers, "The conditions of --fail-if, in their order.")
                        ),
                        definition(
                            "histogram",
                            object(
                                rules(LatencyHistogram.members),
                                4,
                                "null when nothing was counted; three significant digits.",
                                isOptional: true
                            )
                        ),
                    ],
                    2
                )
        ]
    )

    /// The settings, and what only a merged report has.
    static let runRule = object(
        RunSetting.all.map { ($0.name, $0.schema) },
        4,
        others: [
            (
                "merged_from",
                block(
                    [
                        description("The number of merged reports, in a report of volley merge."),
                        #""type": "integer""#, #""minimum": 1"#,
                    ],
                    8
                )
            )
        ]
    )
    static let statusRule = block(
        [description("Responses by status code."), #""type": "object""#, #""additionalProperties": \#(String.whole)"#],
        4
    )
    static let clampedRule = block(
        [description("Values above an hour, counted as an hour."), #""type": "integer""#, #""minimum": 0"#],
        8
    )
}

/// The layout of the schema. A depth is the spaces before the line of a value.
extension SavedReport {
    typealias Rule = (name: String, rule: String)

    static func rules<Owner>(_ members: [Member<Owner>]) -> [Rule] { members.map { ($0.name, $0.rule) } }

    /// A member that has figures: an object, or null where only some runs have it.
    static func section(_ section: Figure.Section, _ words: String? = nil, depth: Int = 4) -> String {
        let figures = Figure.of(section).filter(\.isMember)
        return object(figures.map { ($0.name, rule($0)) }, depth, words, isOptional: section.part != .run)
    }

    /// An object of `members`, and of `others` that it may lack.
    ///
    /// - Parameter inLines: Whether each name that it must have stands in a line of its own.
    static func object(
        _ members: [Rule],
        _ depth: Int,
        _ words: String? = nil,
        isOptional: Bool = false,
        inLines: Bool = false,
        others: [Rule] = [],
        before: [String] = [],
        after: [String] = []
    ) -> String {
        let names = members.map { quoted($0.name) }
        let rules = [
            words.map(description), isOptional ? #""type": ["object", "null"]"# : #""type": "object""#,
            #""additionalProperties": false"#,
            #""required": "# + (inLines ? block(names, depth + 2, "[]") : "[\(names.joined(separator: ", "))]"),
            #""properties": "# + block((members + others).map { definition($0.name, $0.rule) }, depth + 2),
        ]
        return block(before + rules.compactMap(\.self) + after, depth)
    }

    static func table<Owner>(
        _ members: [Member<Owner>],
        _ words: String? = nil,
        depth: Int = 4,
        inLines: Bool = false
    ) -> String {
        array(object(rules(members), depth + 2, inLines: inLines), depth, words)
    }

    private static func array(_ items: String, _ depth: Int, _ words: String?) -> String {
        block([words.map(description), #""type": "array""#, #""items": "# + items].compactMap(\.self), depth)
    }

    /// One of these texts.
    ///
    /// - Parameter depth: Nil for a rule in one line.
    static func choice(_ texts: [String], depth: Int? = nil) -> String {
        let texts = texts.map(quoted)
        guard let depth else { return #"{"enum": [\#(texts.joined(separator: ", "))]}"# }
        return block([#""enum": "# + block(texts, depth + 2, "[]")], depth)
    }

    /// Rules in a line each, between braces or brackets.
    private static func block(_ rules: [String], _ depth: Int, _ ends: String = "{}") -> String {
        let line = "\n" + String(repeating: " ", count: depth)
        return ends.prefix(1) + rules.map { line + "  " + $0 }.joined(separator: ",") + line + ends.suffix(1)
    }

    private static func definition(_ name: String, _ rule: String) -> String { "\(quoted(name)): \(rule)" }

    private static func description(_ words: String) -> String { #""description": "# + quoted(words) }

    private static func rule(_ figure: Figure) -> String {
        let rule: String
        switch figure.value {
        case .count, .whole: rule = number("integer", figure)
        case .perSecond, .ratio: rule = number("number", figure)
        case .flag: rule = .flag
        case .times: rule = .definition("histogram")
        case .other(let schema): return schema
        }
        return figure.help.map { .described($0, rule) } ?? rule
    }

    private static func number(_ type: String, _ figure: Figure) -> String {
        (figure.isOptional ? #"{"type": ["\#(type)", "null"]"# : #"{"type": "\#(type)""#)
            + (figure.isUnbounded ? "}" : #", "minimum": 0}"#)
    }

    private static func quoted(_ text: String) -> String { JSONTree.string(text).line() }
}
