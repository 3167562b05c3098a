import Glibc

/// The two C parsers, in a library that `peers.sh` builds at bench time.
struct Peers {
    private typealias Run = @convention(c) (UnsafePointer<UInt8>, Int, Int, Int32, Int) -> Void

    private let pico: Run
    private let llhttp: Run

    init?(library: String) {
        guard let handle = dlopen(library, RTLD_NOW), let pico = dlsym(handle, "peers_pico"),
            let llhttp = dlsym(handle, "peers_llhttp")
        else { return nil }
        self.pico = unsafeBitCast(pico, to: Run.self)
        self.llhttp = unsafeBitCast(llhttp, to: Run.self)
    }

    func runPico(_ input: [UInt8], feed: Int, isRequest: Bool, rounds: Int) {
        input.withUnsafeBufferPointer { pico($0.baseAddress!, $0.count, feed, isRequest ? 1 : 0, rounds) }
    }

    func runLLHTTP(_ input: [UInt8], feed: Int, isRequest: Bool, rounds: Int) {
        input.withUnsafeBufferPointer { llhttp($0.baseAddress!, $0.count, feed, isRequest ? 1 : 0, rounds) }
    }
}
