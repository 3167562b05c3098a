/// The amounts of a file that one step of sending takes.
enum FilePortion {
    /// Bytes that `sendfile` takes in a turn.
    static let slice = 1 << 20
    /// Bytes of one read if the file is read into memory: sixteen of these are a turn's amount.
    static let bite = 64 << 10
}
