import LoadGenerator

extension InputPlace {
    /// An error at this place of a file.
    func problem(_ text: String) -> UsageError { UsageError("\(inMessages): \(text)") }
}

extension RequestInput {
    /// Adds a request. Too many are refused while the file is read: lines of two bytes would need a hundred times as
    /// much memory.
    mutating func add(_ draft: RequestDraft) throws(UsageError) {
        guard drafts.count < limit else {
            throw draft.place.problem("more than \(limit) requests: use a part of the file")
        }
        drafts.append(draft)
    }
}
