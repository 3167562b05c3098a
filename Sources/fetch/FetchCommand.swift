import Glibc
import UncurlEngine
import UncurlHTTP1
import UncurlReactor

/// The smallest useful program on the engine, without Foundation and without a package: a loop on the main thread, an
/// engine on it, and a delegate.
@main
struct FetchCommand {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ arguments: [String]) -> FetchVerdict {
        do {
            switch try FetchOptions.parse(arguments) {
            case .help:
                try BlockingOutput.writeAll(FetchOptions.usage, to: BlockingOutput.standard)
                return .good
            case .version:
                try BlockingOutput.writeAll("fetch \(PackageVersion.text)\n", to: BlockingOutput.standard)
                return .good
            case .run(let options):
                let loop = try EventLoop()
                let fetcher = try Fetcher(options, on: loop)
                fetcher.start()
                loop.run()
                return fetcher.verdict
            }
        } catch {
            try? BlockingOutput.writeAll("fetch: \(error)\n", to: BlockingOutput.errors)
            return .unusable
        }
    }
}
