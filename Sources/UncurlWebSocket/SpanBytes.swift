extension [UInt8] {
    /// Appends what lies in `bytes`: one copy.
    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
