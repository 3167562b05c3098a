import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload

/// Writes what an upload brings to the file that its path names, in the folder given, and answers with the number of
/// octets. Each connection ends with a reset after so many octets as the second argument says.
final class Receiving: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let folder: String
    private var file: FileHandle?
    private var received = 0

    init(_ folder: String) { self.folder = folder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // The last part of a path alone: no way out of the folder.
            let name = (request.path ?? "/").split(separator: "/").last.map(String.init) ?? "upload"
            _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil)
            file = FileHandle(forWritingAtPath: "\(folder)/\(name)")
        case .body(let octets):
            received += octets.readableBytes
            try? file?.write(contentsOf: Data(octets.readableBytesView))
        case .end:
            try? file?.close()
            let text = "\(received)"
            let fields: HTTPFields = [.contentLength: "\(text.utf8.count)"]
            context.write(wrapOutboundOut(.head(HTTPResponse(status: .created, headerFields: fields))), promise: nil)
            context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Resets its connection once so many octets have come in it.
final class Cutting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var left: Int

    init(after octets: Int) { left = octets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        guard left <= 0 else { return }
        left = .max
        // SO_LINGER of no time: the kernel sends RST.
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(promise: nil)
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let octets = Int(arguments[2]) else {
    print("usage: ResumablePeer FOLDER OCTETS")
    exit(1)
}
let folder = arguments[1]
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
// The port is the kernel's choice, and the resources' URLs name it.
let probe = try ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).wait()
let port = probe.localAddress?.port ?? 0
try probe.close().wait()
let uploads = HTTPResumableUploadContext(origin: "http://127.0.0.1:\(port)")
let server = try ServerBootstrap(group: group)
    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(Cutting(after: octets))
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(HTTPResumableUploadHandler(context: uploads, handlers: [Receiving(folder)]))
        }
    }
    .bind(host: "127.0.0.1", port: port).wait()
print("port \(port)")
fflush(nil)
try server.closeFuture.wait()
