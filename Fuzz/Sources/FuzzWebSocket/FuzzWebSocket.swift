import WebSocketProperty

/// libFuzzer's entry; `input` is nil for no octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ input: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    webSocketProperty(Array(UnsafeBufferPointer(start: input, count: count)))
    return 0
}
