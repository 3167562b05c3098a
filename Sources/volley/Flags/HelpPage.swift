import ArgumentParser
import UncurlLoad

/// A command that prints a ``HelpPage`` as its help.
protocol DocumentedCommand: ParsableCommand {
    /// The flags of volley that have no effect for the command.
    static var refused: [String] { get }
}

extension DocumentedCommand {
    static var refused: [String] { [] }
}

/// The help of a command. The parser has the names of the flags and of their values; ``FlagGroup`` has their order and
/// their words.
struct HelpPage {
    /// What asks for a page. ``text(all:columns:)`` decides which.
    static let names: NameSpecification = [.short, .long, .customLong(all)]
    private static let all = "help-all"

    /// Whether a command line that asks for help asks for all flags.
    static func isOfAll(_ line: [String]) -> Bool { line.contains("--" + all) }

    private let configuration: CommandConfiguration
    /// The word after `volley`; empty for volley itself.
    private let command: String
    private let refused: [String]
    let flags: [Flag]

    init(_ type: any DocumentedCommand.Type) {
        configuration = type.configuration
        command = String((configuration.commandName ?? "").parts(at: " ").dropFirst().first ?? "")
        refused = type.refused
        flags = Flag.read(type.helpMessage(includeHidden: false, columns: Flag.oneLine))
    }

    /// The groups of flags that the page may show; the command's own come first.
    var groups: [FlagGroup] {
        let commands = command.isEmpty ? ["", "any"] : [command, "", "any"]
        return commands.flatMap { name in FlagGroup.all.filter { $0.command == name } }
    }

    /// - Parameters:
    ///   - all: Whether all flags are described in full: otherwise volley's common flags in a line each, and of another
    ///     command the flags that volley lacks.
    ///   - columns: The width in which lines are wrapped.
    func text(all: Bool, columns: Int) -> String {
        var lines = Self.wrapped(configuration.abstract, columns) + ["", "Usage: \(configuration.usage ?? "")"]
        for group in groups {
            let isOwn = group.command == command
            let shown = group.rows.filter { row in
                all || (command.isEmpty ? row.isCommon : isOwn || group.command == "any")
            }
            let rows = shown.flatMap { row in
                flag(row, in: group).map { Self.lines($0, row, inFull: all || isOwn && !command.isEmpty, columns) }
                    ?? []
            }
            if !rows.isEmpty { lines += ["", group.question + ":"] + rows }
        }
        if !all, takesOthers {
            let rest = refused.isEmpty ? "" : ", except \(refused.joined(separator: ", "))"
            lines += [""] + Self.wrapped("It also takes the flags of `volley --\(Self.all)`\(rest).", columns)
        }
        // Of volley's own discussion, the first paragraph is for everyone.
        let paragraphs = configuration.discussion.replacingEach("\n\n", by: "\n").parts(at: "\n", keepingEmpty: false)
        for paragraph in paragraphs.prefix(all || !command.isEmpty ? .max : 1) {
            lines += [""] + Self.wrapped(paragraph, columns)
        }
        return lines.joined(separator: "\n")
    }

    /// Whether the command takes flags of volley too.
    private var takesOthers: Bool {
        !command.isEmpty
            && FlagGroup.all.contains { $0.command.isEmpty && $0.rows.contains { flag($0, in: "") != nil } }
    }

    private func flag(_ row: FlagGroup.Row, in group: FlagGroup) -> Flag? { flag(row, in: group.command) }

    /// The flag of a row, unless the command refuses it or has a flag of its own with that name.
    private func flag(_ row: FlagGroup.Row, in group: String) -> Flag? {
        guard let flag = flags.first(where: { $0.keys.contains(row.name) }), !refused.contains(where: flag.has)
        else { return nil }
        let isOwn = FlagGroup.all.contains { $0.command == command && $0.rows.contains { $0.name == row.name } }
        return group == command || !isOwn ? flag : nil
    }
}

extension HelpPage {
    /// A flag as the parser shows it: `-c, --connections <N>`.
    struct Flag {
        /// With their dashes.
        private(set) var letters: [Substring] = []
        private(set) var names: [Substring] = []
        private(set) var value = ""
        /// The words, with a default that the parser adds.
        let words: Substring

        /// The width in which the parser wraps no words.
        static let oneLine = 10_000

        /// What its rows may be called.
        var keys: [String] {
            names.isEmpty ? [value.dropFirst().dropLast().lowercased()] : names.map { String($0.dropFirst(2)) }
        }

        func has(_ name: String) -> Bool { letters.contains(Substring(name)) || names.contains(Substring(name)) }

        /// The flags of a page of the parser's. Each begins after two blanks; its words begin in column 26, on the next
        /// line where its names are longer.
        static func read(_ page: String) -> [Flag] {
            let lines = page.parts(at: "\n") + [""]
            let gap = String(repeating: " ", count: 26)
            return zip(lines, lines.dropFirst())
                .compactMap { line, next in
                    guard line.begins(with: "  "), !line.begins(with: "   ") else { return nil }
                    return next.begins(with: gap)
                        ? Flag(line.trimmed, next.dropFirst(gap.count))
                        : Flag(line.prefix(gap.count).trimmed, line.dropFirst(gap.count))
                }
        }

        private init(_ label: String, _ words: Substring) {
            self.words = words
            for word in label.prefix(before: "<").parts(at: " ", keepingEmpty: false) {
                let name = word.prefix(before: ",")
                if name.begins(with: "--") { names.append(name) } else { letters.append(name) }
            }
            value = String(label.dropFirst(label.prefix(before: "<").count))
        }
    }

    private static let column = 32

    private static func lines(_ flag: Flag, _ row: FlagGroup.Row, inFull: Bool, _ columns: Int) -> [String] {
        let name = flag.names.first { $0.dropFirst(2) == row.name }
        // The parser gives `--help` and `--help-all` in any order: a letter is for the shortest.
        let shortest = flag.names.min { $0.count < $1.count }
        let letters = name == shortest ? flag.letters.prefix(inFull ? .max : 1) : []
        let names = (letters + [name].compactMap(\.self)).joined(separator: ", ")
        let label =
            String(repeating: " ", count: letters.isEmpty ? 6 : 2)
            + [names, flag.value].filter { !$0.isEmpty }.joined(separator: " ")
        // The parser has its own words for its own flags.
        let added = flag.words.begins(with: row.words) ? flag.words.dropFirst(row.words.count).trimmed : ""
        let words = [row.words, inFull ? row.more : "", added].filter { !$0.isEmpty }.joined(separator: " ")
        let gap = String(repeating: " ", count: column)
        let texts = wrapped(words, columns - column)
        if label.count > column - 2 { return [label] + texts.map { gap + $0 } }
        return texts.enumerated().map { ($0 == 0 ? left(label, column) : gap) + $1 }
    }

    /// The words in lines of at most so many columns, but for a longer word.
    private static func wrapped(_ text: some StringProtocol, _ columns: Int) -> [String] {
        var lines: [String] = []
        for word in String(text).parts(at: " ", keepingEmpty: false) {
            if let last = lines.last, last.count + 1 + word.count <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
