/// What is wrong with a command line, a file, a text in one of them, or a system limit, and how to correct it: one
/// line. Each room says its own sentences.
///
/// volley prints it before anything starts, and ends with status 1.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether a file is the reason: the description then begins with its name.
    package let isOfFile: Bool

    package init(_ description: String, isOfFile: Bool = false) {
        (self.description, self.isOfFile) = (description, isOfFile)
    }
}
