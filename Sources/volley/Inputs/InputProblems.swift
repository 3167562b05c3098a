import LoadGenerator

extension InputPlace {
    /// What is wrong with what stands there.
    func problem(_ text: String) -> UsageError { UsageError("\(inMessages): \(text)") }
}

extension RequestInput {
    /// Refused while the file is still being read: lines of two bytes would be a hundred times as much memory.
    mutating func add(_ draft: RequestDraft) throws(UsageError) {
        guard drafts.count < limit else {
            throw draft.place.problem("more than \(limit) requests: use a part of the file")
        }
        drafts.append(draft)
    }
}
