import UncurlLoad

extension InputPlace {
    /// An error at this place of a file.
    func problem(_ text: String) -> UsageError { UsageError("\(inMessages): \(text)") }
}

extension RequestInput {
    /// Adds a request. Too many requests are refused while the file is read, because requests of two bytes each take a
    /// hundred times as much memory as the file.
    mutating func add(_ draft: RequestDraft) throws(UsageError) {
        guard drafts.count < limit else {
            throw draft.place.problem("more than \(limit) requests: use a part of the file")
        }
        drafts.append(draft)
    }
}
