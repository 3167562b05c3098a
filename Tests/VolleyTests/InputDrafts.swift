import TestSupport

@testable import UncurlLoad
@testable import volley

/// Returns the requests of an input file with this text.
func drafts(_ format: InputFormat, _ text: String) throws -> [RequestDraft] {
    let file = TemporaryFile(Array(text.utf8))
    return try InputFormat.read(["\(format.rawValue)=\(file.path)"]).drafts
}
