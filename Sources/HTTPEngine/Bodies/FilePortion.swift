/// How much of a file one step of sending takes.
enum FilePortion {
    /// Bytes of a turn where `sendfile` takes the file.
    static let slice = 1 << 20
    /// Bytes of one read where the file is read into memory: sixteen of these are a turn.
    static let bite = 64 << 10
}
