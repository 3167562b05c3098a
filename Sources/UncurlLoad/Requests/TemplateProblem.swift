/// Why a text with places cannot be filled in.
package enum TemplateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text contains the mark of places.
    case mark(String)
    /// The text between `{{` and `}}` is no value.
    case unknown(String)
    case file(FileProblem)
    /// A file of lines contains no line.
    case empty(String)

    package var description: String {
        switch self {
        case .mark(let mark): "\(mark) may not stand in a text: volley marks places with it"
        case .unknown(let text): "{{\(oneLine(text))}} is unknown: use \(TemplateValue.names)"
        case .file(let problem): "\(problem): \(problem.advice)"
        case .empty(let path): "\(quoted(path)) has no line in it"
        }
    }
}
