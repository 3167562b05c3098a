internal import UncurlEngine

/// What a session notes of origins. A server may have any number of them, so beyond a limit all notes are forgotten,
/// and it is known only that there were some.
struct OriginNotes<Note> {
    static var limit: Int { 1024 }

    private var notes: [Origin: Note] = [:]
    /// Whether any origin without a note may have had one.
    private(set) var hasForgotten = false

    var isEmpty: Bool { notes.isEmpty && !hasForgotten }
    var count: Int { notes.count }

    subscript(origin: Origin) -> Note? {
        get { notes[origin] }
        set {
            if newValue != nil, notes.count >= Self.limit, notes[origin] == nil {
                notes = [:]
                hasForgotten = true
            }
            notes[origin] = newValue
        }
    }
}
